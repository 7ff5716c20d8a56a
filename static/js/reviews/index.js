// The review page and the reveal, one of which becomes the other in place. Their order matters: the sheet is set
// up before what waited is put back, and that before the next item is fetched.
import "./time.js";
import "./evidence.js";
import "./criteria.js";
import "./find.js";
import "./keys.js";
import "./reveal.js";
import "./saving.js";
import "./prefetch.js";

// What every page loads. Nothing is bound to an element: all listen at the document, so that what htmx puts into
// the page later works as well.
import "./menu.js";
import "../shared/csrf.js";
import "../shared/typed_text.js";
import "../shared/form_problems.js";
import "./dialog.js";
import "./send_once.js";
import "./confirm.js";
import "../shared/toast.js";
import "./copy.js";
import "../comments/comments.js";
import "../search/jump.js";
import "../results/chart_marks.js";
import "./local_time.js";
import "./filter_form.js";
import "./dropzone.js";
import "./single_keys.js";
import "./request_errors.js";

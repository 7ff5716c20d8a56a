// The form a rubric is edited in.
import "../shared/sortable_rows.js";
import "./criteria/line.js";
import "./rows.js";
import "./folds.js";
import "./options.js";
import "./votes.js";
import "./points.js";
import "./criteria/selected.js";
import "./criteria/paste.js";
import "./criteria/history.js";
import "./saving.js";
import "./preview.js";

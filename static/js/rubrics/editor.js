// The form a rubric is edited in.
import "../shared/sortable_rows.js";
import "./rows.js";
import "./folds.js";
import "./options.js";
import "./votes.js";
import "./points.js";
import "./saving.js";
import "./preview.js";

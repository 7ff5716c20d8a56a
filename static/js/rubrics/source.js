// The page on which a rubric is edited as YAML or JSON.
import "./saving.js";
import "./lines.js";

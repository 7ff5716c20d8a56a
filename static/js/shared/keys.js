// When a key pressed alone is a command, and when it is a letter somebody types.

const TYPED = 'textarea, select, [contenteditable], input:not([type="radio"], [type="checkbox"])';

/**
 * Whether somebody may be writing there. Radios and checkboxes are fields one does not write in.
 * @param {HTMLElement} element
 */
export const isTyping = (element) => Boolean(element.closest?.(TYPED));

/**
 * Whether a key that is held down says again what it said: only j and k, which go from one to the next, go on.
 * @param {KeyboardEvent} event
 */
export const isHeld = (event) => event.repeat && !"jk".includes(event.key);

export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/** @param {KeyboardEvent} event */
export const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;

/**
 * Ctrl+Enter, and Cmd+Enter on a Mac.
 * @param {KeyboardEvent} event
 */
export const isCtrlEnter = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey);

/** Whether the person, or this device, lets single keys act at once. */
export const areSingleKeysOn = () => document.documentElement.dataset.singleKeys !== "off";

// Every event of our own: what it carries, who says it and who listens. `tell` of events.js sends them on the
// document; those of rows start at their list and bubble. htmx sends its own (htmx:afterSettle and others).

interface PageEvents {
  /** A short message. From `toast`, or from the server's HX-Trigger header; heard by shared/toast.js. */
  toast: { text?: string; level?: "info" | "success" | "warning" | "error"; link?: ToastLink };
  /** Light or dark was chosen, or the system changed. From site/theme.js; charts are drawn anew. */
  "theme:changed": null;
  /** A run is in another state than before. From the server; runs/passing_messages.js clears old messages. */
  "run:moved": unknown;

  /** Rows were added or removed. From the rows and options of the rubric editor; heard by all that counts rows. */
  "rows:changed": null;
  /** Rows were dragged or moved. From shared/sortable_rows.js; the rubric editor notes an unsaved change. */
  "rows:reordered": { order: string[] };
  /** What is said of the lines of a source as it was sent. From rubrics/saving.js to rubrics/lines.js. */
  "source:marked": { line: number; severity: string; text: string }[];
  /** The draft is stored. From the server; heard by rubrics/saving.js. */
  "rubric:saved": unknown;

  /** A review is there to be worked on, after loading and after each change of place. From reviews/prefetch.js. */
  "review:ready": null;
  /** A single key was pressed; whoever uses it prevents the default. From reviews/keys.js. */
  "review:key": { key: string };
  /** Open this criterion. From reviews/saving.js to reviews/criteria.js. */
  "review:open": { id: string };
  /**
   * Something was answered or typed; the newest of a name wins. Without `url` the fields stay on this device,
   * without `fields` they are forgotten. From reviews/criteria.js to reviews/saving.js.
   */
  "review:change": { name: string; url?: string; fields: ReviewFields | null };
  /** The server has a change of the review that is open. From reviews/saving.js to reviews/criteria.js. */
  "review:saved": { name: string; fields: ReviewFields };
  /** What an earlier visit left on this device. From reviews/saving.js to reviews/criteria.js. */
  "review:restored": Record<string, ReviewEntry>;
  /**
   * Take what the server has, or what waits from another tab, in place of what was answered here. From
   * reviews/saving.js to reviews/criteria.js.
   */
  "review:take": { name: string; stored: StoredAnswer; waits?: boolean };
  /** The quotes of a criterion were changed. From reviews/evidence.js to reviews/criteria.js. */
  "review:evidence": { article: HTMLElement };
  /** The quotes of a criterion were changed by others: draw them. From reviews/criteria.js to reviews/evidence.js. */
  "review:redraw": { article: HTMLElement };
  /** Scroll to these words of the item. From reviews/find.js to reviews/evidence.js. */
  "review:show": { range: Range };
  /** A submit is on its way; whoever opens the next item prevents the default. From saving.js to prefetch.js. */
  "review:leave": { key: string };
  /** Is nothing waiting to be submitted? Prevented where something is. From prefetch.js to saving.js. */
  "review:is-idle": null;
  /** The server has a submit, of the review that is open or of an earlier one. From saving.js to prefetch.js. */
  "review:submitted": { key: string; isHere: boolean };
  /** The review that is open is no more, and nothing can be saved of it. From prefetch.js to saving.js. */
  "review:gone": null;
  /** The server refused a submit. From saving.js to prefetch.js. */
  "review:returned": { key: string };
}

/** Where a message leads, in which words, and the key of the review page that goes there. */
interface ToastLink {
  url: string;
  words: string;
  key: string;
}

type ReviewFields = Record<string, string | string[]>;

/** What the server has for a criterion, said with a conflict. */
interface StoredAnswer {
  verdict: string;
  reason: string;
  evidence?: object[];
}

/** What the server says when it does not take a change. */
interface Refusal {
  status: number;
  message: string;
  missing?: string[];
  /** Of a submit: where the own answer is saved alone, by the criteria that were answered in another tab. */
  elsewhere?: Record<string, string>;
  stored?: StoredAnswer;
  /** `stored` is no answer of the server's but another tab's, which waits on this device as well. */
  waits?: boolean;
}

/** One change of a review that the server does not have yet. */
interface ReviewEntry {
  url: string | null;
  fields: ReviewFields;
  /** Milliseconds and a counter: what was changed later has the greater number. */
  at: string;
  item?: string;
  page?: string;
  refused?: Refusal;
}

type OwnEvents = { [Name in keyof PageEvents]: CustomEvent<PageEvents[Name]> };
interface DocumentEventMap extends OwnEvents {}

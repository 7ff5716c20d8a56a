// What TypeScript's own types do not know of our pages: what selectors find, what listeners at the document hear,
// what the vendored scripts are called.

/** What a selector finds, as far as its first word says it; otherwise some element of HTML. */
type Found<Selector> = Selector extends keyof HTMLElementTagNameMap
  ? HTMLElementTagNameMap[Selector]
  : Selector extends `input${string}`
    ? HTMLInputElement
    : Selector extends `textarea${string}`
      ? HTMLTextAreaElement
      : Selector extends `button${string}`
        ? HTMLButtonElement
        : Selector extends `a${"." | "[" | ":"}${string}`
          ? HTMLAnchorElement
          : Selector extends `form${"#" | "[" | "."}${string}`
            ? HTMLFormElement
            : Selector extends `progress${string}`
              ? HTMLProgressElement
              : Selector extends `template${string}`
                ? HTMLTemplateElement
                : Selector extends `details${string}`
                  ? HTMLDetailsElement
                  : Selector extends `dialog${string}`
                    ? HTMLDialogElement
                    : Selector extends `select${string}`
                      ? HTMLSelectElement
                      : Selector extends `time${string}`
                        ? HTMLTimeElement
                        : HTMLElement;

interface ParentNode {
  querySelector<Selector extends string>(selectors: Selector): Found<Selector> | null;
  querySelectorAll<Selector extends string>(selectors: Selector): NodeListOf<Found<Selector>>;
}

interface Element {
  closest<Selector extends string>(selectors: Selector): Found<Selector> | null;
}

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** What htmx says, as far as we listen. */
interface HtmxEvents {
  "htmx:afterSettle": CustomEvent<{ requestConfig: { elt: HTMLElement } }>;
  "htmx:configRequest": CustomEvent<{ headers: Record<string, string> }>;
  "htmx:beforeSend": Event;
  "htmx:afterRequest": CustomEvent<{ requestConfig: { elt: HTMLElement } }>;
  "htmx:sendError": CustomEvent<{ xhr: XMLHttpRequest }>;
  "htmx:confirm": CustomEvent<{ elt: HTMLElement; issueRequest(isConfirmed: boolean): void }>;
  "htmx:responseError": CustomEvent<{ xhr: XMLHttpRequest; requestConfig: { triggeringEvent?: Event } }>;
  "htmx:beforeOnLoad": CustomEvent<{ xhr: XMLHttpRequest }>;
  "htmx:beforeSwap": CustomEvent<{
    xhr: XMLHttpRequest;
    target: HTMLElement;
    shouldSwap: boolean;
    requestConfig: { elt: HTMLElement };
    isError: boolean;
  }>;
  "htmx:oobBeforeSwap": CustomEvent<{ fragment: DocumentFragment; target: HTMLElement; shouldSwap: boolean }>;
}

interface DocumentEventMap extends HtmxEvents {
  formdata: FormDataEvent;
}

/** What happened, to an element: nothing that our listeners at the document hear of happens to the document itself. */
type Delegated<Name extends keyof DocumentEventMap> = DocumentEventMap[Name] & {
  readonly target: Name extends "submit" | "formdata"
    ? HTMLFormElement
    : Name extends "input" | "change"
      ? Field
      : HTMLElement;
};

interface Document {
  addEventListener<Name extends keyof DocumentEventMap>(
    name: Name,
    listener: (event: Delegated<Name>) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare const htmx: {
  process(element: Element): void;
  ajax(method: string, url: string, options: { target: string; swap: string }): Promise<void>;
};

declare const Idiomorph: {
  morph(here: Element, there: Element, options: { morphStyle: "innerHTML" | "outerHTML" }): void;
  defaults: {
    callbacks: { beforeAttributeUpdated?: (attribute: string, element: Element) => boolean };
  };
};

declare const Sortable: {
  create(
    list: HTMLElement,
    options: {
      draggable: string;
      handle: string;
      ghostClass: string;
      animation: number;
      onEnd(event: { oldIndex?: number; newIndex?: number; item: HTMLElement }): void;
    },
  ): void;
};

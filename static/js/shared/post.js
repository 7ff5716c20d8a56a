// Requests that our own scripts send.

/** The cookie's token is newer than the page's after signing in again in another tab. */
export const csrfToken = () =>
  document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ??
  document.querySelector("input[name=csrfmiddlewaretoken]")?.value ??
  "";

/**
 * A POST that is answered in JSON; a redirect, as to the sign-in page, is not followed.
 * @param {string} url
 * @param {RequestInit} [options]
 */
export const post = (url, options = {}) =>
  fetch(url, {
    method: "POST",
    headers: { Accept: "application/json", "X-CSRFToken": csrfToken() },
    redirect: "manual",
    ...options,
  });

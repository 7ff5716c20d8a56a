// What a point of a chart over time is called: its name where points have names, else its time.

/** @type {(data: { times: number[], names?: string[] | null }, index: number) => string} */
export const pointWords = ({ times, names }, index) =>
  names
    ? names[index]
    : new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }).format(
        times[index] * 1000,
      );

/** Whether the text is a day of the calendar (`2026-02-28`); `Date.parse` takes 30 February for a day in March. */
export function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}

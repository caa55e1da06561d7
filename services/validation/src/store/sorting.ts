/**
 * The order of a list: a sortable column, which the contract checks, with `-` in front for descending. Ties are
 * sorted by id. `columns` maps the names of the API to SQL.
 */
export function sortingOf(order: string, columns: Readonly<Record<string, string>>): string {
  const direction = order.startsWith("-") ? "desc" : "asc";
  const sorted = columns[order.replace("-", "")];
  if (sorted === undefined) throw new Error(`the list cannot be sorted by ${order}`);
  return `${sorted} ${direction}, id ${direction}`;
}

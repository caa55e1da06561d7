import { pipeline, Readable } from "node:stream";

import { csvLines, guardText, headerOf } from "@scrip/exports";
import type { Call } from "@scrip/rpc";
import { parse } from "csv-parse";

import type { Clients } from "../clients.ts";
import { createCardReader, type OwnerRow } from "./card-balances.ts";
import { type ForeignField, lookedUpFields, type LookupSources } from "./foreign-fields.ts";
import { splitFilters, type SplitFilters } from "./foreign-filters.ts";
import type { ExportInput } from "./parameters.ts";
import { ownersOf, type RowOwner, rowsRequest } from "./row-sources.ts";

/** Rows that are looked up together; within the limits of all lookups. */
const BATCH_ROWS = 500;

/** The CSV file of an export, in chunks. The text of one owner passes unchanged, unless fields must be looked up. */
export async function* fileContent(
  clients: Clients,
  input: ExportInput,
  call: Call,
): AsyncIterable<Uint8Array> {
  yield csvLines([input.fields.map(headerOf)]);
  const owners = ownersOf(clients, input);
  const foreign = await lookedUpFields(clients, input, call);
  const filters = splitFilters(input, foreign);
  const [only] = owners;
  if (
    only !== undefined &&
    owners.length === 1 &&
    filters.foreign.length === 0 &&
    !input.fields.some((field) => foreign.has(field))
  ) {
    const request = rowsRequest(input, filters, { fields: input.fields });
    for await (const { csv } of only(request, call)) yield csv;
    return;
  }
  const source = { input, foreign, filters, call };
  await using cardReader = createCardReader(clients.cards, call);
  const sources = { ...clients, cardReader };
  const read = readsCards(source)
    ? afterFirst(mergedRows(owners, source), cardReader.open)
    : mergedRows(owners, source);
  for await (const rows of batches(read)) {
    const lines = await completeRows(sources, rows, source);
    if (lines.length > 0) yield csvLines(lines);
  }
}

type Source = {
  readonly input: ExportInput;
  /** Fields that are looked up. */
  readonly foreign: ReadonlyMap<string, ForeignField>;
  readonly filters: SplitFilters;
  readonly call: Call;
};

const readsCards = ({ input, foreign, filters }: Source): boolean =>
  [...input.fields, ...filters.foreign].some((field) => foreign.get(field)?.readsCards === true);

/** The column that says whether a row matches the filters of its owner. */
const MARK = "#matches";

/** The fields to read from an owner: those of the file, what lookups need, and the order. */
function ownerFields({
  input: { object, fields, order },
  foreign,
  filters,
}: Pick<Source, "input" | "foreign" | "filters">): readonly string[] {
  return [
    ...new Set([
      ...[...fields, ...filters.foreign].flatMap((field) => foreign.get(field)?.needs ?? [field]),
      ...(object === "voucher_transactions" ? [sortedBy(order)] : []),
    ]),
  ];
}

const sortedBy = (order: string): string => order.replace(/^-/, "");

function ownerRows(owner: RowOwner, source: Source): AsyncIterable<OwnerRow> {
  const { input, filters, call } = source;
  const fields = ownerFields(source);
  async function* text(): AsyncIterable<Uint8Array> {
    for await (const { csv } of owner(rowsRequest(input, filters, { fields }), call)) yield csv;
  }
  const columns = [...(filters.marks ? [MARK] : []), ...fields];
  const parser = parse({ columns, record_delimiter: "\n" });
  // The reader of the rows gets its error, and ends it.
  return pipeline(Readable.from(text()), parser, () => {}) as AsyncIterable<OwnerRow>;
}

/** The rows of several owners in one order, each of which returns them in it; times sort as text. */
async function* mergedRows(owners: readonly RowOwner[], source: Source): AsyncIterable<OwnerRow> {
  const { order } = source.input;
  const by = sortedBy(order);
  const sign = order.startsWith("-") ? -1 : 1;
  const sources = owners.map((owner) => ownerRows(owner, source)[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(sources.map((each) => each.next()));
    for (;;) {
      let first: number | undefined;
      for (const [at, head] of heads.entries()) {
        if (head.done === true) continue;
        const best = first === undefined ? undefined : heads[first];
        const isEarlier =
          best === undefined ||
          sign * compare(head.value[by] ?? "", (best.value as OwnerRow)[by] ?? "") < 0;
        if (isEarlier) first = at;
      }
      const head = first === undefined ? undefined : heads[first];
      const next = first === undefined ? undefined : sources[first];
      if (first === undefined || head === undefined || next === undefined) return;
      yield head.value as OwnerRow;
      heads[first] = await next.next();
    }
  } finally {
    // A file that fails must not keep the connections that read its rows.
    await Promise.all(sources.map(async (each) => each.return?.()));
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The same rows: `action` runs when the first one has arrived, so that it is later than the snapshot of the rows. */
async function* afterFirst(
  rows: AsyncIterable<OwnerRow>,
  action: () => Promise<unknown>,
): AsyncIterable<OwnerRow> {
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst) await action();
    isFirst = false;
    yield row;
  }
}

async function* batches(rows: AsyncIterable<OwnerRow>): AsyncIterable<readonly OwnerRow[]> {
  let batch: OwnerRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH_ROWS) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The cells of the rows that match the filters: text of owners is guarded already. */
async function completeRows(
  sources: LookupSources,
  rows: readonly OwnerRow[],
  { input, foreign, filters, call }: Source,
): Promise<readonly (readonly (string | null)[])[]> {
  const lookUp = async (all: readonly OwnerRow[], fields: readonly string[]) =>
    new Map(
      await Promise.all(
        fields.map(async (field) => {
          const values = await foreign.get(field)?.lookUp(sources, all, call);
          return [field, new Map(all.map((row, at) => [row, values?.[at] ?? null]))] as const;
        }),
      ),
    );
  const filtered = await lookUp(rows, filters.foreign);
  const time = { now: call.now, ...call.project };
  const matching = rows.filter((row) => {
    const values = new Map([...filtered].map(([field, all]) => [field, all.get(row) ?? null]));
    return filters.foreign.length === 0 || filters.matches(values, row[MARK] === "true", time);
  });
  const others = input.fields.filter((field) => foreign.has(field) && !filtered.has(field));
  const known = new Map([...filtered, ...(await lookUp(matching, others))]);
  return matching.map((row) =>
    input.fields.map((field) => {
      const values = known.get(field);
      if (values === undefined) return row[field] ?? null;
      const value = values.get(row) ?? null;
      return value && guardText(value);
    }),
  );
}

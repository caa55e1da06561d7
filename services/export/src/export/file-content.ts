import { csvLines, guardText, headerOf } from "@scrip/exports";
import type { Call } from "@scrip/rpc";
import { parse } from "csv-parse";

import type { Clients } from "../clients.ts";
import { foreignFields, type OwnerRow } from "./foreign-fields.ts";
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
  const foreign = foreignFields(input.object);
  const [only] = owners;
  if (
    only !== undefined &&
    owners.length === 1 &&
    !input.fields.some((field) => foreign.has(field))
  ) {
    for await (const { csv } of only(rowsRequest(input, input.fields), call)) yield csv;
    return;
  }
  for await (const rows of batches(mergedRows(owners, input, call))) {
    yield csvLines(await completeRows(clients, rows, { input, call }));
  }
}

/** The fields to read from an owner: those of the file, what lookups need, and the order. */
function ownerFields({ object, fields, order }: ExportInput): readonly string[] {
  const foreign = foreignFields(object);
  return [
    ...new Set([
      ...fields.flatMap((field) => foreign.get(field)?.needs ?? [field]),
      ...(object === "voucher_transactions" ? [sortedBy(order)] : []),
    ]),
  ];
}

const sortedBy = (order: string): string => order.replace(/^-/, "");

async function* ownerRows(
  owner: RowOwner,
  input: ExportInput,
  call: Call,
): AsyncIterable<OwnerRow> {
  const columns = ownerFields(input);
  const parser = parse({ columns: [...columns] });
  const reading = (async () => {
    try {
      for await (const { csv } of owner(rowsRequest(input, columns), call)) {
        if (!parser.write(csv)) await new Promise((resolve) => parser.once("drain", resolve));
      }
      parser.end();
    } catch (error) {
      parser.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  })();
  yield* parser as AsyncIterable<OwnerRow>;
  await reading;
}

/** The rows of several owners in one order, each of which returns them in it; times sort as text. */
async function* mergedRows(
  owners: readonly RowOwner[],
  input: ExportInput,
  call: Call,
): AsyncIterable<OwnerRow> {
  const by = sortedBy(input.order);
  const sign = input.order.startsWith("-") ? -1 : 1;
  const sources = owners.map((owner) => ownerRows(owner, input, call)[Symbol.asyncIterator]());
  const heads = await Promise.all(sources.map((source) => source.next()));
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
    const source = first === undefined ? undefined : sources[first];
    if (first === undefined || head === undefined || source === undefined) return;
    yield head.value as OwnerRow;
    heads[first] = await source.next();
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

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

/** The cells of the file: text of owners is guarded already. */
async function completeRows(
  clients: Clients,
  rows: readonly OwnerRow[],
  { input, call }: { readonly input: ExportInput; readonly call: Call },
): Promise<readonly (readonly (string | null)[])[]> {
  const foreign = foreignFields(input.object);
  const columns = await Promise.all(
    input.fields.map(async (field): Promise<readonly (string | null)[]> => {
      const lookup = foreign.get(field);
      if (lookup === undefined) return rows.map((row) => row[field] ?? null);
      const values = await lookup.lookUp(clients, rows, call);
      return values.map((value) => value && guardText(value));
    }),
  );
  return rows.map((_, at) => columns.map((column) => column[at] ?? null));
}

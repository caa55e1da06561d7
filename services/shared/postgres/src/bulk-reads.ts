import type { Socket } from "node:net";

import { type Client, escapeLiteral } from "pg";

import { CopyOut } from "./copy-out.ts";

type Statement = { readonly text: string; readonly values: readonly unknown[] };

/** Reads of millions of rows of one project, in one snapshot, with a memory that does not grow with them. */
export type BulkReads = {
  /** The text of `copy (<statement>) to stdout (format csv)`, in chunks. Leaving the loop ends it. */
  readonly copyCsv: (statement: Statement) => AsyncIterable<Buffer>;
  /** The rows of a query, in batches. Leaving the loop ends it. */
  readonly readRows: <Row>(statement: Statement) => AsyncIterable<readonly Row[]>;
};

const BATCH_ROWS = 2_000;

/** Each read has a connection of its own; its caller bounds their number. */
export const createBulkReads = (connect: () => Client): BulkReads => ({
  copyCsv: (statement) =>
    withClient(connect, async function* copy(client) {
      const text = `copy (${inlineValues(statement)}) to stdout (format csv)`;
      yield* client.query(new CopyOut(text)) as AsyncIterable<Buffer>;
    }),
  readRows: <Row>(statement: Statement) =>
    withClient(connect, async function* read(client) {
      await client.query("begin read only");
      await client.query(`declare bulk no scroll cursor for ${inlineValues(statement)}`);
      for (;;) {
        const { rows } = await client.query(`fetch ${BATCH_ROWS} from bulk`);
        if (rows.length === 0) return;
        yield rows as Row[];
      }
    }),
});

/** Reads on a connection that is closed afterwards, or when the loop is left. */
export async function* withClient<Item>(
  connect: () => Client,
  read: (client: Client) => AsyncIterable<Item>,
): AsyncIterable<Item> {
  const client = connect();
  // A connection that breaks also fails the running query; without a listener it ends the process.
  client.on("error", () => {});
  let isComplete = false;
  try {
    await client.connect();
    yield* read(client);
    isComplete = true;
  } finally {
    // An orderly end would wait for results that are no longer read, so the connection is only ended in this way when
    // all were read.
    if (isComplete) await client.end();
    else
      (
        client as unknown as { readonly connection: { readonly stream: Socket } }
      ).connection.stream.destroy();
  }
}

/**
 * The statement with its values as literals, because neither COPY nor DECLARE takes parameters. Postgres reads a
 * quoted literal without a type as it reads a parameter without one.
 */
export const inlineValues = ({ text, values }: Statement): string =>
  text.replaceAll(/\$(\d+)/g, (_, number: string) => {
    const value = textOf(values[Number(number) - 1]);
    return value === null ? "null" : escapeLiteral(value);
  });

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return textOfDate(value);
  if (Array.isArray(value)) return `{${value.map(elementOf).join(",")}}`;
  if (typeof value === "object") throw new Error("a statement value that is no scalar");
  // oxlint-disable-next-line typescript/no-base-to-string -- a scalar
  return String(value);
}

/** Postgres reads neither the year 0 nor the signs of years that ISO 8601 writes with six digits. */
function textOfDate(value: Date): string {
  const text = value.toISOString();
  const year = value.getUTCFullYear();
  if (year > 0) return text.replace(/^\+0*/, "");
  return `${String(1 - year).padStart(4, "0")}${text.slice(text.indexOf("-", 1))} BC`;
}

function elementOf(value: unknown): string {
  const text = textOf(value);
  return text === null ? "NULL" : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

import type { Queryable } from "@scrip/postgres";
import { Client, TypeOverrides, types } from "pg";

// As everywhere: a bigint column may hold more than a number can.
const exact = new TypeOverrides();
exact.setTypeParser(types.builtins.INT8, BigInt);

/** One connection that cannot write, with more patience than the pools of the services have. */
export async function openReader(
  url: string,
  schema: string,
): Promise<Queryable & AsyncDisposable> {
  const client = new Client({
    connectionString: url,
    options: `-c search_path=${schema} -c default_transaction_read_only=on -c statement_timeout=300s`,
    types: exact,
  });
  await client.connect();
  return {
    query: (text: string, values?: unknown[]) => client.query(text, values),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

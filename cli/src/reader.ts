import type { Queryable } from "@scrip/postgres";
import { Client, TypeOverrides, types } from "pg";

// A bigint column may hold more than a number can.
const exact = new TypeOverrides();
exact.setTypeParser(types.builtins.INT8, BigInt);

/** One read-only connection, with longer timeouts than the pools of the services. */
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

import { type ActiveSpan, currentTracing, type SpanAttributes } from "@scrip/telemetry";

import { sqlState } from "./errors.ts";
import type { Statement } from "./statement.ts";

/** Spans of statements and transactions, within requests and events whose trace is exported. */
export type StatementSpans = {
  readonly statement: <Result extends Rows>(
    statement: string | Statement,
    run: () => Promise<Result>,
  ) => Promise<Result>;
  readonly transaction: <Result>(run: () => Promise<Result>) => Promise<Result>;
  readonly commit: (run: () => Promise<void>) => Promise<void>;
};

/**
 * Undefined without tracing. Attributes have the names of OpenTelemetry's conventions for databases. They contain neither
 * parameters nor texts: the name of a statement identifies it in the code, others are named after what they do.
 */
export function createStatementSpans(database: {
  readonly url: string;
  readonly schema: string;
}): StatementSpans | undefined {
  const tracing = currentTracing();
  if (tracing === undefined) return undefined;
  const server = serverAttributes(database);
  const inSpan = <Result>(
    { name, kind = "client", attributes = {} }: SpanOf,
    run: (span: ActiveSpan | undefined) => Promise<Result>,
  ): Promise<Result> => {
    // Background jobs poll the database all the time.
    if (tracing.activeSpan()?.isSampled !== true) return run(undefined);
    const start = { name, kind, attributes: { ...server, ...attributes } };
    return tracing.inSpan(start, (span) => withStatusCode(span, () => run(span)));
  };
  return {
    statement: (statement, run) =>
      inSpan(spanOf(statement), async (span) => {
        const result = await run();
        span?.annotate({ "db.response.returned_rows": countRows(result) });
        return result;
      }),
    transaction: (run) => inSpan({ name: "transaction", kind: "internal" }, run),
    commit: (run) => inSpan({ name: "commit", attributes: { "db.operation.name": "COMMIT" } }, run),
  };
}

/** Text with several commands has a result of each, which the type of `query` does not say. */
const countRows = (result: Rows | readonly Rows[]): number =>
  [result].flat().at(-1)?.rows.length ?? 0;

type Rows = { readonly rows: readonly unknown[] };

type SpanOf = {
  readonly name: string;
  readonly kind?: "client" | "internal";
  readonly attributes?: SpanAttributes;
};

async function withStatusCode<Result>(
  span: ActiveSpan,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const state = sqlState(error);
    if (state !== undefined) span.annotate({ "db.response.status_code": state });
    throw error;
  }
}

const OPERATION = /\b(?:insert|update|delete|merge|select|copy|lock|set)\b/i;
const TABLE = /\b(?:into|from|update|join)\s+(?!unnest\b|lateral\b|only\b)([a-z_][\w.]*)/i;

function spanOf(statement: string | Statement): SpanOf {
  const { name, text } =
    typeof statement === "string" ? { name: undefined, text: statement } : statement;
  const operation = (OPERATION.exec(text)?.[0] ?? "statement").toUpperCase();
  const summary = [operation, ...(TABLE.exec(text)?.slice(1, 2) ?? [])].join(" ");
  return {
    name: name ?? summary,
    attributes: { "db.operation.name": operation, "db.query.summary": summary },
  };
}

const DEFAULT_PORT = 5432;

function serverAttributes({ url, schema }: { readonly url: string; readonly schema: string }) {
  const { hostname, port, pathname } = new URL(url);
  return {
    "db.system.name": "postgresql",
    "db.namespace": `${pathname.slice(1)}|${schema}`,
    "server.address": hostname,
    "server.port": Number(port || DEFAULT_PORT),
  };
}

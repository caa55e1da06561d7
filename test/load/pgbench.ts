import { execFile } from "node:child_process";
import { access, glob } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { migrate } from "@scrip/postgres";
import { Client } from "pg";

const run = promisify(execFile);
const SCHEMA = "voucher";
const SERVICES = path.join(import.meta.dirname, "../../services");
const SCRIPTS = {
  plain: path.join(import.meta.dirname, "redeem.pgbench.sql"),
  shop: path.join(import.meta.dirname, "redeem-shop.pgbench.sql"),
  spend: path.join(import.meta.dirname, "spend.pgbench.sql"),
};

/** A redemption alone, one with an order and an idempotency key, and one that spends points. */
export type Script = keyof typeof SCRIPTS;

/**
 * Side A: one transaction per redemption, driven by pgbench. It runs in a database of its own with
 * the tables of the services' migrations, so both sides write the same rows, indexes and
 * constraints.
 */
export type PgBench = {
  /** Redemptions per second of `clients` clients on the first `codes` vouchers. */
  measure(load: {
    readonly script: Script;
    readonly clients: number;
    readonly codes: number;
    readonly seconds: number;
  }): Promise<number>;
};

export async function preparePgBench(url: string, codes: number): Promise<PgBench> {
  const program = await findPgBench();
  for (const schema of [SCHEMA, "validation", "loyalty"]) {
    const folder = path.join(SERVICES, schema, "migrations");
    await migrate({ url, schema, role: `scrip_${schema}`, folder });
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`set search_path = ${SCHEMA}`);
    // Ids sort by creation, as those of Scrip do.
    await client.query("create sequence bench_redemption cache 1000");
    await client.query(
      `insert into voucher_usage (project_id, voucher_id, definition_version)
       select 'proj_bench', 'v_' || lpad(to_hex(number), 18, '0'), 1
         from generate_series(1, $1::int8) as number`,
      [codes],
    );
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
  return {
    measure: async (load) => {
      const { stdout } = await run(
        program,
        [
          "--no-vacuum",
          "--protocol=prepared",
          "--jobs=2",
          `--file=${SCRIPTS[load.script]}`,
          `--client=${load.clients}`,
          `--time=${load.seconds}`,
          `--define=codes=${load.codes}`,
        ],
        { env: { ...process.env, ...connectionEnv(url), PGOPTIONS: `-c search_path=${SCHEMA}` } },
      );
      return redemptionsPerSecond(stdout);
    },
  };
}

/** As environment variables: arguments are visible in the list of processes. */
function connectionEnv(text: string): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(text);
  return {
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: pathname.slice(1),
  };
}

function redemptionsPerSecond(output: string): number {
  const tps = /^tps = ([\d.]+)/m.exec(output)?.[1];
  const failed = /^number of failed transactions: (\d+)/m.exec(output)?.[1];
  if (tps === undefined || (failed !== undefined && failed !== "0")) {
    throw new Error(`pgbench failed:\n${output}`);
  }
  return Number(tps);
}

/** From PATH, or where Debian's postgresql package installs it. */
async function findPgBench(): Promise<string> {
  const onPath = await run("pgbench", ["--version"]).then(
    () => true,
    () => false,
  );
  if (onPath) return "pgbench";
  for await (const file of glob("/usr/lib/postgresql/*/bin/pgbench")) {
    await access(file);
    return file;
  }
  throw new Error("pgbench is missing: install the package postgresql-contrib (or postgresql)");
}

import {
  type AuditCounts,
  type AuditFault,
  type ChainEnd,
  listAuditProjects,
  readAuditScope,
  readChainEnds,
  verifyProject,
  withAuditProject,
} from "@scrip/export/audit-log";
import type { Queryable } from "@scrip/postgres";
import type { Command } from "commander";

import { readChainEndFile, writeChainEnds } from "../chain-end-file.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { openDatabases } from "../database.ts";
import { checkWritable } from "../files.ts";
import { isDay } from "../is-day.ts";
import { openReader } from "../reader.ts";

type VerifyOptions = {
  readonly project?: readonly string[];
  readonly since?: string;
  readonly ends?: string;
};

/** Faults that are listed; all are counted. */
const MAX_LISTED = 20;

export function addAudit(program: Command, context: Context): void {
  const audit = program.command("audit").description("Verify the audit log.");
  audit
    .command("verify")
    .description("Recompute the hash chains without writing; exit code 1 on any fault.")
    .option("--project <id...>", "verify only these projects")
    .option(
      "--since <date>",
      "verify only this day (YYYY-MM-DD, UTC) and later ones, without entries from before the first chain",
    )
    .option("--ends <file>", "also verify that the chains contain the ends in this file")
    .action((options: VerifyOptions) => verify(context, options));
  audit
    .command("ends")
    .description("Write the ends of all chains to a file that `audit verify --ends` reads.")
    .argument("<file>", "file to write")
    .action((file: string) => writeEnds(context, file));
}

async function verify(context: Context, options: VerifyOptions): Promise<void> {
  const since = options.since ?? null;
  if (since !== null && !isDay(since)) throw usageError(`--since ${since} is not a date`);
  const ends = options.ends === undefined ? [] : await readChainEndFile(options.ends);
  const { projects, counts, faults, first } = await withAuditLog(context, (db) =>
    verifyProjects(context, db, { ...options, since, ends }),
  );
  const { entries, unchained } = counts;
  context.print({
    json: { projects, entries, unchained, faults, first },
    text: [
      `${projects} projects with ${entries} entries: ${faults === 0 ? "no fault" : `${faults} faults`}`,
      ...(unchained === 0 ? [] : [`${unchained} entries from before the first chain have no hash`]),
      ...first.map(describe),
    ].join("\n"),
  });
  if (faults > 0) throw new CliError(`the audit log has faults on ${faults} days of projects`);
}

async function verifyProjects(
  { startProgress }: Context,
  db: Queryable,
  {
    project,
    since,
    ends,
  }: {
    readonly project?: readonly string[] | undefined;
    readonly since: string | null;
    readonly ends: readonly ChainEnd[];
  },
) {
  using progress = startProgress("audited projects");
  const scope = await readAuditScope(db, since);
  const endsOf = Map.groupBy(ends, (end) => end.project_id);
  const stored = project ?? [...(await listAuditProjects(db)), ...endsOf.keys()];
  const projects = new Set(stored);
  const counts: AuditCounts = { entries: 0, unchained: 0 };
  const first: AuditFault[] = [];
  let [faults, done] = [0, 0];
  for (const projectId of projects) {
    await withAuditProject(db, { projectId, since }, async (records) => {
      const chains = { scope, ends: endsOf.get(projectId) ?? [], counts };
      for await (const fault of verifyProject(records, chains)) {
        faults += 1;
        if (first.length < MAX_LISTED) first.push(fault);
      }
    });
    progress.update((done += 1));
  }
  return { projects: projects.size, counts, faults, first };
}

async function writeEnds(context: Context, file: string): Promise<void> {
  await checkWritable(file);
  const ends = await withAuditLog(context, readChainEnds);
  await writeChainEnds(file, ends);
  context.print({
    json: { file, ends: ends.length },
    text: `wrote the ends of ${ends.length} chains to ${file}`,
  });
}

async function withAuditLog<Result>(
  { settings }: Context,
  use: (db: Queryable) => Promise<Result>,
): Promise<Result> {
  await using databases = await openDatabases(settings, ["export"]);
  await using db = await openReader(databases.urlOf("export"), "export");
  // Awaited here: the connection ends with the block.
  return await use(db);
}

const describe = ({ projectId, day, entryId, details }: AuditFault): string =>
  `FAIL  ${projectId}  ${day}${entryId === null ? "" : `  entry ${entryId}`}: ${details}`;

import {
  createLedgerVerifier,
  type LedgerFault,
  type LedgerRecord,
  listLedgerProjects,
  readLedger,
} from "@scrip/loyalty/ledger";
import type { Queryable } from "@scrip/postgres";
import type { Command } from "commander";

import { CliError, usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { type OpenDatabases, openDatabases } from "../database.ts";
import { checkWritable } from "../files.ts";
import { readLedgerFile, writeLedger } from "../ledger-file.ts";
import { openReader } from "../reader.ts";

type Selection = { readonly card?: string; readonly project?: string[] };
type VerifyOptions = Selection & { readonly file?: string };

/** Faults that are listed; all are counted. */
const MAX_LISTED = 20;

export function addLedger(program: Command, context: Context): void {
  const ledger = program.command("ledger").description("Verify or export the points ledger.");
  ledger
    .command("verify")
    .description(
      "Recompute balances, lots and hash chains without writing; exit code 1 on any fault.",
    )
    .option("--card <code>", "verify only this card (code or id)")
    .option("--project <id...>", "verify only these projects")
    .option("--file <file>", "verify an exported ledger, without a database")
    .action((options: VerifyOptions) => verify(context, options));
  ledger
    .command("export")
    .description("Write the points ledger to a file that `ledger verify --file` reads.")
    .argument("<file>", "file to write")
    .option("--card <code>", "export only this card (code or id)")
    .option("--project <id...>", "export only these projects")
    .action((file: string, options: Selection) => exportLedger(context, file, options));
}

async function verify(context: Context, { file, ...selection }: VerifyOptions): Promise<void> {
  if (file !== undefined && (selection.card !== undefined || selection.project !== undefined)) {
    throw usageError("--file verifies the whole file, without --card and --project");
  }
  const result =
    file === undefined
      ? await withLedger(context, selection, (records) => verifyRecords(context, records))
      : await verifyRecords(context, readLedgerFile(file));
  const { cards, entries, faults, first } = result;
  context.print({
    json: { cards, entries, faults, first: first.map(describeAsJson) },
    text: [
      `${cards} cards with ${entries} entries: ${faults === 0 ? "no fault" : `${faults} faults`}`,
      ...first.map(describe),
    ].join("\n"),
  });
  if (faults > 0) throw new CliError(`${faults} cards or entries are wrong`);
}

async function verifyRecords({ startProgress }: Context, records: AsyncIterable<LedgerRecord>) {
  using progress = startProgress("ledger entries");
  const verifier = createLedgerVerifier();
  const first: LedgerFault[] = [];
  let faults = 0;
  const add = (fault: LedgerFault | null): void => {
    if (fault === null) return;
    faults += 1;
    if (first.length < MAX_LISTED) first.push(fault);
  };
  for await (const record of records) {
    add(verifier.check(record));
    const { entries } = verifier.counts();
    if (entries % 10_000 === 0) progress.update(entries);
  }
  add(verifier.end());
  return { ...verifier.counts(), faults, first };
}

async function exportLedger(context: Context, file: string, selection: Selection): Promise<void> {
  await checkWritable(file);
  const { cards, entries } = await withLedger(context, selection, (records) =>
    writeLedger(file, records),
  );
  context.print({
    json: { file, cards, entries },
    text: `wrote ${cards} cards with ${entries} entries to ${file}`,
  });
}

async function withLedger<Result>(
  { settings }: Context,
  selection: Selection,
  use: (records: AsyncIterable<LedgerRecord>) => Promise<Result>,
): Promise<Result> {
  const byCode = selection.card !== undefined;
  await using databases = await openDatabases(settings, [
    "loyalty",
    ...(byCode ? ["voucher"] : []),
  ]);
  const cards = byCode ? await findCards(databases, selection) : null;
  await using db = await openReader(databases.urlOf("loyalty"), "loyalty");
  // Awaited here: the connection ends with the block.
  return await use(cards === null ? readProjects(db, selection) : readCards(db, cards));
}

async function* readProjects(db: Queryable, { project }: Selection): AsyncGenerator<LedgerRecord> {
  for (const projectId of project ?? (await listLedgerProjects(db))) {
    yield* readLedger(db, { projectId });
  }
}

async function* readCards(
  db: Queryable,
  cards: readonly { readonly projectId: string; readonly cardId: string }[],
): AsyncGenerator<LedgerRecord> {
  for (const card of cards) yield* readLedger(db, card);
}

/** The cards with this code, one per project; the id of a card is that of its voucher. */
async function findCards(
  { urlOf }: Pick<OpenDatabases, "urlOf">,
  { card, project = [] }: Selection,
) {
  await using db = await openReader(urlOf("voucher"), "voucher");
  const { rows } = await db.query<{ projectId: string; cardId: string }>(
    `select project_id as "projectId", id as "cardId" from voucher
      where (code = $1 or id = $1) and type = 'LOYALTY_CARD' and (project_id = any($2) or $2 = '{}')
      order by project_id, id`,
    [card, project],
  );
  if (rows.length === 0) throw new CliError(`no loyalty card has the code ${card}`);
  return rows;
}

const describe = ({ projectId, cardId, entry, details }: LedgerFault): string =>
  `FAIL  ${projectId}  card ${cardId}${entry === null ? "" : `  entry ${entry.version} (${entry.id})`}: ${details}`;

const describeAsJson = ({ projectId, cardId, entry, details }: LedgerFault) => ({
  project: projectId,
  card: cardId,
  entry: entry === null ? null : { version: Number(entry.version), id: entry.id },
  details,
});

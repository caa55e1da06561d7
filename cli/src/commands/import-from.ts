import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { Argument, type Command } from "commander";

import { openApi } from "../api.ts";
import { CliError, usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { type Group, Move } from "../move/move.ts";
import type { Findings, Reconciliation } from "../move/reconciliation.ts";
import type { TableRow } from "../move/table.ts";
import { CUSTOMERS, customerOf, VOUCHERS, voucherOf } from "../move/voucherify.ts";
import { countOf, formatTable } from "../output.ts";

type Options = {
  readonly customers?: string[];
  readonly vouchers?: string[];
  readonly loyaltyCards?: string[];
  readonly pointsExpirations?: string[];
  readonly campaign?: string;
  readonly apply?: boolean;
  readonly skipInvalid?: boolean;
};

export function addImportFrom(program: Command, context: Context): void {
  program
    .command("import-from")
    .description("Move customers, vouchers and points from CSV exports of another system.")
    .addArgument(new Argument("<system>", "where the files come from").choices(["voucherify"]))
    .option("--customers <file...>", "exports of customers")
    .option("--vouchers <file...>", "exports of vouchers, of all types")
    .option("--loyalty-cards <file...>", "exports of loyalty cards, with their points")
    .option("--points-expirations <file...>", "exports of the points that expire")
    .option("--campaign <name>", "campaign of the vouchers whose row names none")
    .option("--apply", "import; without it, the files are only checked and compared")
    .option("--skip-invalid", "import although some rows cannot be imported")
    .action((_system: string, options: Options) => importFrom(context, options));
}

async function importFrom(context: Context, options: Options): Promise<void> {
  const groups = groupsOf(options);
  if (groups.length === 0)
    throw usageError("nothing to move: provide --customers, --vouchers or --loyalty-cards");
  const api = await openApi(context.settings);
  await using work = await workFolder();
  const move = new Move(context, api, work.folder);
  const before = await move.compare(groups);
  await move.checkProject();
  if (options.apply !== true) {
    report(context, move, before, "Nothing was changed. Repeat with --apply to import.");
  } else if (move.problems.count > 0 && options.skipInvalid !== true) {
    report(context, move, before, "Nothing was changed: mend the problems, or use --skip-invalid.");
  } else {
    for (const { kind } of groups) await move.import(kind);
    const after = await move.compareAgain();
    report(context, move, after, "Imported.");
    if (after.missing.count + after.different.count > 0)
      throw new CliError("the files and Scrip differ");
  }
  if (move.problems.count > 0) throw new CliError(countOf(move.problems.count, "problem"));
}

/** Customers first: vouchers are published to them. */
function groupsOf(options: Options): readonly Group[] {
  const { customers, vouchers, loyaltyCards, pointsExpirations, campaign } = options;
  if (pointsExpirations !== undefined && (vouchers ?? loyaltyCards) === undefined)
    throw usageError("--points-expirations needs the cards: provide --loyalty-cards or --vouchers");
  const defaults = campaign === undefined ? {} : { campaign };
  const groups: readonly Group[] = [
    {
      kind: CUSTOMERS,
      files: (customers ?? []).map((file) => ({ file, itemOf: customerOf })),
    },
    {
      kind: VOUCHERS,
      files: [
        ...(vouchers ?? []).map((file) => ({
          file,
          itemOf: (row: TableRow) => voucherOf(row, defaults),
        })),
        ...(loyaltyCards ?? []).map((file) => ({
          file,
          itemOf: (row: TableRow) => voucherOf(row, { ...defaults, type: "LOYALTY_CARD" }),
        })),
      ],
      ...(pointsExpirations !== undefined && { expirations: pointsExpirations }),
    },
  ];
  return groups.filter(({ files }) => files.length > 0);
}

/** The files hold personal data: the folder is private, and deleted at the end. */
async function workFolder(): Promise<AsyncDisposable & { readonly folder: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-move-"));
  return {
    folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function report(
  { print }: Context,
  { problems, notes }: Move,
  found: Reconciliation,
  outcome: string,
): void {
  const { figures, missing, different } = found;
  const rows = [...figures].map(([label, { files, scrip }]) => [
    label,
    String(files),
    String(scrip),
    String(files - scrip),
  ]);
  const text = [
    formatTable(["", "FILES", "SCRIP", "DIFFERENCE"], rows),
    ...list("Not in Scrip", missing),
    ...list("Different", different),
    ...list("Problems", problems),
    ...(notes.length > 0 ? ["", ...notes] : []),
    "",
    outcome,
  ].join("\n");
  const figuresJson = Object.fromEntries(
    [...figures].map(([label, { files, scrip }]) => [
      label,
      { files: Number(files), scrip: Number(scrip) },
    ]),
  );
  print({ json: { figures: figuresJson, missing, different, problems, notes, outcome }, text });
}

function list(title: string, { count, first }: Findings): string[] {
  if (count === 0) return [];
  const more = count > first.length ? [`  and ${count - first.length} more`] : [];
  return ["", `${title}: ${count}`, ...first.map((line) => `  ${line}`), ...more];
}

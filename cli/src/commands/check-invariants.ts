import { EVENTS_SCHEMA } from "@scrip/events";
import { listLoyaltyProjects, loyaltyInvariants } from "@scrip/loyalty/invariants";
import type { InvariantCheck, Queryable } from "@scrip/postgres";
import { listValidationProjects, validationInvariants } from "@scrip/validation/invariants";
import {
  checkRedemptionEvents,
  listVoucherProjects,
  voucherInvariants,
} from "@scrip/voucher/invariants";
import type { Command } from "commander";

import { CliError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { type OpenDatabases, openDatabases } from "../database.ts";
import { invariantMetrics, writeMetrics } from "../invariant-metrics.ts";
import { checkPoints } from "../points-check.ts";
import { readPublished } from "../published-events.ts";
import { openReader } from "../reader.ts";

type CheckOptions = { readonly project?: string[]; readonly textfile?: string };

type Finding = {
  readonly project: string;
  readonly invariant: string;
  readonly states: string;
  readonly checked: number;
  readonly violations: readonly { readonly subject: string; readonly details: string }[];
};

/** Rows per statement, each of which then ends in well under a second. */
const CHUNK = 5_000;

export function addCheckInvariants(program: Command, context: Context): void {
  program
    .command("check-invariants")
    .description(
      "Check the invariants of all projects without writing; exit code 1 on any violation.",
    )
    .option("--project <id...>", "check only these projects")
    .option("--textfile <file>", "also write the result as metrics for node_exporter")
    .action((options: CheckOptions) => checkInvariants(context, options));
}

async function checkInvariants(context: Context, options: CheckOptions): Promise<void> {
  await using databases = await openDatabases(context.settings, SCHEMAS);
  const findings: Finding[] = [
    ...(await checkOwner(databases, VOUCHER, options)),
    ...(await checkEvents(context, databases, options)),
    ...(await checkOwner(databases, VALIDATION, options)),
    ...(await checkOwner(databases, LOYALTY, options)),
    ...(await checkPointsOf(databases, options)),
  ];
  const violations = findings.reduce((sum, finding) => sum + finding.violations.length, 0);
  if (options.textfile !== undefined) {
    await writeMetrics(options.textfile, invariantMetrics(findings, Date.now()));
  }
  context.print({ json: { violations, findings }, text: describe(findings) });
  if (violations > 0) throw new CliError(`${violations} violations found`);
}

type Owner = {
  readonly schema: string;
  readonly invariants: readonly InvariantCheck[];
  readonly listProjects: (db: Queryable) => Promise<readonly string[]>;
};

const VOUCHER: Owner = {
  schema: "voucher",
  invariants: voucherInvariants,
  listProjects: listVoucherProjects,
};

const VALIDATION: Owner = {
  schema: "validation",
  invariants: validationInvariants,
  listProjects: listValidationProjects,
};

const LOYALTY: Owner = {
  schema: "loyalty",
  invariants: loyaltyInvariants,
  listProjects: listLoyaltyProjects,
};

const SCHEMAS = [VOUCHER.schema, VALIDATION.schema, LOYALTY.schema, EVENTS_SCHEMA];

type Databases = Pick<OpenDatabases, "urlOf">;

async function checkPointsOf(databases: Databases, options: CheckOptions): Promise<Finding[]> {
  await using redemptions = await openSchema(databases, VOUCHER.schema);
  await using points = await openSchema(databases, LOYALTY.schema);
  const findings: Finding[] = [];
  for (const project of options.project ?? (await LOYALTY.listProjects(points))) {
    const ledgers = { redemptions, points };
    findings.push({
      project,
      invariant: "I2 points",
      states: "each redemption deducted exactly the points held for it",
      ...(await checkPoints(ledgers, project)),
    });
  }
  return findings;
}

const openSchema = ({ urlOf }: Databases, schema: string) => openReader(urlOf(schema), schema);

async function checkOwner(
  databases: Databases,
  owner: Owner,
  options: CheckOptions,
): Promise<Finding[]> {
  await using db = await openSchema(databases, owner.schema);
  const findings: Finding[] = [];
  for (const project of options.project ?? (await owner.listProjects(db))) {
    for (const invariant of owner.invariants) {
      findings.push(await checkInvariant(db, project, invariant));
    }
  }
  return findings;
}

async function checkInvariant(
  db: Queryable,
  project: string,
  { name, states, checkChunk }: InvariantCheck,
): Promise<Finding> {
  const violations: Finding["violations"][number][] = [];
  let checked = 0;
  let after: string | null = "";
  while (after !== null) {
    const chunk = await checkChunk(db, { projectId: project, after, limit: CHUNK });
    checked += chunk.checked;
    violations.push(...chunk.violations);
    after = chunk.last;
  }
  return { project, invariant: name, states, checked, violations };
}

async function checkEvents(
  { settings }: Context,
  databases: Databases,
  options: CheckOptions,
): Promise<Finding[]> {
  // The events in Kafka are not read: it may have dropped some of any age.
  const isInDatabase = settings.read("SCRIP_KAFKA_BROKERS") === undefined;
  await using db = await openSchema(databases, VOUCHER.schema);
  await using bus = await openSchema(databases, EVENTS_SCHEMA);
  const findings: Finding[] = [];
  for (const project of options.project ?? (await VOUCHER.listProjects(db))) {
    const published = isInDatabase ? await readPublished(bus, project) : null;
    const { checked, violations } = await checkRedemptionEvents(db, {
      projectId: project,
      published: published?.payloads ?? null,
      publishedSince: published?.since ?? 0,
      now: Date.now(),
    });
    findings.push({
      project,
      invariant: "I5 events",
      states: "each recent redemption has one event, and each event a redemption",
      checked,
      violations,
    });
  }
  return findings;
}

function describe(findings: readonly Finding[]): string {
  if (findings.length === 0) return "no projects to check";
  return findings
    .flatMap(({ project, invariant, states, checked, violations }) => [
      `${violations.length === 0 ? "ok  " : "FAIL"}  ${project}  ${invariant}: ${checked} checked; ${states}`,
      ...violations.map(({ subject, details }) => `      ${subject}: ${details}`),
    ])
    .join("\n");
}

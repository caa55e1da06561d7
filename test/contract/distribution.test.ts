import { describe, expect, test } from "vitest";

import { sourceFiles } from "../docs/repository.ts";

const files = sourceFiles();

/** Tables that are the same for all projects, or are looked up before the project is known. */
const WITHOUT_PROJECT: ReadonlySet<string> = new Set([
  "gateway.access_token",
  "gateway.api_key",
  "campaign.outbox_position",
  "gateway.outbox_position",
  "loyalty.outbox_position",
  "validation.outbox_position",
  "voucher.outbox_position",
  "export.worker",
]);

type Table = { readonly name: string; readonly text: string };

const tables: readonly Table[] = files
  .filter(({ path }) => /^(?:gateway|services\/\w+)\/schema\.sql$/.test(path))
  .flatMap(({ path, text }) => {
    const schema = path.split("/").at(-2) ?? "";
    const created = [...text.matchAll(/^create table (\w+) \([^]*?^\)/gm)];
    return created.map(([definition, name]): Table => {
      const unique = new RegExp(
        `^create unique index \\w+ on (?:only )?(?:\\w+\\.)?${name} [^;]*`,
        "gim",
      );
      return {
        name: `${schema}.${name}`,
        text: [definition, ...(text.match(unique) ?? [])].join("\n"),
      };
    });
  })
  .filter(({ name }) => !WITHOUT_PROJECT.has(name));

describe("each table can be distributed by project_id", () => {
  test("all tables are found", () => {
    expect(tables.length).toBeGreaterThan(60);
  });

  test.each(tables)("$name has it, and its keys begin with it", ({ text }) => {
    expect(text).toMatch(/^ {2}project_id text not null/m);
    const keys = [
      ...text.matchAll(/(?:primary key|unique) \(([^)]*)\)/gi),
      ...text.matchAll(/foreign key \(([^)]*)\)/gi),
      ...text.matchAll(/create unique index[^(]*\(([^)]*)/gi),
    ].map(([, columns]) => columns ?? "");
    expect(keys.filter((columns) => !/^project_id\b/.test(columns.trim()))).toEqual([]);
  });
});

/**
 * Statements that no request runs, by their beginnings: jobs that look through all projects, locks, and those of tables
 * without a project.
 */
const OF_NO_PROJECT: readonly string[] = [
  "delete from access_token where token_hash",
  "delete from awaited_card",
  "delete from canceled_order",
  "delete from points_claim",
  "delete from points_lock",
  "delete from webhook_delivery where ctid",
  "delete from worker",
  "select 1 from api_key",
  "select c.relname as name from pg_class",
  // Pages of a list, whose conditions name the project.
  "select id, name, hierarchy, created_at, updated_at ${page}",
  "select i.object, i.id, i.source_id, i.product_id, i.created_at ${page}",
  // Of the management: the list of all projects.
  "select count(*) as total from project where deleted_at is null",
  // The jobs that publish projects again, and that look whether there is a webhook or a changed customer at all.
  "select ${COLUMNS}, deleted_at is not null as deleted from project",
  "select exists (select from changed_customer)",
  "select exists (select from webhook)",
  "select exists (select from webhook where ${IS_DUE})",
  // The job that removes old explanations.
  "select p.project_id from project p left join explanation_removal",
  // The calendars whose nights a job looks for.
  "select distinct time_zone, sandbox_now from project",
  // Whether any queue waits for a turn.
  "select exists ( select from ${QUEUE_SCHEMA}._private_jobs",
  // The job that deletes members of deleted segments.
  "select project_id, id from deleted_segment",
  // The job that deletes the deliveries of deleted webhooks.
  "select project_id, id from webhook where deleted_at is not null",
  "select from ${QUEUE_SCHEMA}",
  "select ${QUEUE_SCHEMA}",
  "select pg_advisory",
  // Lanes, which projects share, and the turns that a process holds.
  "select id::text from ${QUEUE_SCHEMA}._private_jobs",
  "update ${QUEUE_SCHEMA}._private_job",
  "with alive as",
];

type Statement = { readonly where: string; readonly text: string; readonly expanded: string };

const LITERAL = /`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)*)"/g;
const SQL = /^\s*(?:select|insert into|update|delete from|with)\s/;

/** The statement with what the names in it stand for, three levels deep. */
function expand(text: string, file: string): string {
  const known = new Set<string>();
  let all = text;
  for (let level = 0; level < 3; level += 1) {
    for (const [, expression = ""] of all.matchAll(/\$\{((?:[^{}]|\{[^}]*\})*)\}/g)) {
      for (const [name] of expression.matchAll(/[A-Za-z_]\w+/g)) {
        if (known.has(name)) continue;
        known.add(name);
        const declared = new RegExp(
          `(?:const|let|function) (?:${name}|\\{[^}]*\\b${name}\\b)[^]{0,700}|\\b${name}: [^]{0,500}`,
        );
        all += `\n${declared.exec(file)?.[0] ?? ""}`;
      }
    }
  }
  return all;
}

/** A file with the files of its folder that it imports. */
function withImports({ path, text }: (typeof files)[number]): string {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const names = new Set(
    [...text.matchAll(/from "\.\/([\w-]+\.ts)"/g)].map(([, name]) => folder + name),
  );
  return [text, ...files.filter((file) => names.has(file.path)).map((file) => file.text)].join(
    "\n",
  );
}

const statements = files
  .filter(({ path }) => /^(?:gateway|services\/\w+)\/src\/store\/[\w-]+\.ts$/.test(path))
  .filter(({ path }) => !path.endsWith("invariants.ts"))
  .flatMap((source) => {
    const { path, text: file } = source;
    const scope = withImports(source);
    return [...file.matchAll(LITERAL)].flatMap((literal): Statement[] => {
      const text = (literal[1] ?? literal[2] ?? "").trim().replaceAll(/\s+/g, " ");
      if (!SQL.test(text)) return [];
      const line = file.slice(0, literal.index).split("\n").length;
      // A template in the template ends the literal too early.
      const isWhole = (text.match(/\$\{/g) ?? []).length <= (text.match(/\}/g) ?? []).length;
      const whole = isWhole ? literal[0] : file.slice(literal.index, literal.index + 1_000);
      return [{ where: `${path}:${line}`, text, expanded: expand(whole, scope) }];
    });
  });

test("each statement of a request names the project", () => {
  expect(statements.length).toBeGreaterThan(400);
  const lacking = statements
    .filter(({ expanded }) => !/project_?id|rowKeyPart/i.test(expanded))
    .filter(({ text }) => !OF_NO_PROJECT.some((beginning) => text.startsWith(beginning)))
    .map(({ where, text }) => `${where} ${text.slice(0, 100)}`);
  expect(lacking).toEqual([]);
});

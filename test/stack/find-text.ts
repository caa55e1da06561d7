import { unpackBytes } from "@scrip/postgres";
import { Client } from "pg";

/**
 * The tables whose rows of a project contain a text, also inside binary and packed columns; of tables without projects,
 * all rows. Each is `schema.table`.
 */
export async function tablesWithText(
  databaseUrl: string,
  {
    projectId,
    text,
    only,
  }: {
    readonly projectId: string;
    readonly text: string;
    /** Searches these tables only: the event log of a stack that other files use is large. */
    readonly only?: readonly string[] | undefined;
  },
): Promise<readonly string[]> {
  const client = new Client(databaseUrl);
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string; has_project: boolean }>(
      `select format('%I.%I', n.nspname, c.relname) as name,
              exists (select from pg_attribute a
                       where a.attrelid = c.oid and a.attname = 'project_id') as has_project
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and not c.relispartition
          and n.nspname !~ '^(pg_|information_schema)'
          and ($1::text[] is null or format('%I.%I', n.nspname, c.relname) = any ($1))
        order by 1`,
      [only ?? null],
    );
    const found: string[] = [];
    for (const { name, has_project: hasProject } of tables) {
      const { rows } = await client.query<Record<string, unknown>>(
        `select * from ${name}${hasProject ? " where project_id = $1" : ""}`,
        hasProject ? [projectId] : [],
      );
      if (rows.some((row) => Object.values(row).some((value) => contains(value, text)))) {
        found.push(name);
      }
    }
    return found;
  } finally {
    await client.end();
  }
}

function contains(value: unknown, text: string): boolean {
  if (Buffer.isBuffer(value)) return [value, unpacked(value)].some((bytes) => bytes.includes(text));
  return value !== null && JSON.stringify(value).includes(text);
}

/** The bytes themselves if they are not packed. */
function unpacked(bytes: Buffer): Buffer {
  try {
    return Buffer.from(unpackBytes(bytes));
  } catch {
    return bytes;
  }
}

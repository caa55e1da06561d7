import type { Client } from "pg";

/** What statements rely on in a schema, and what they must observe. Partitions are left out: they are an implementation. */
export type SchemaTerms = {
  /** Tables, columns, their types, keys: a statement may rely on each. */
  readonly promises: ReadonlySet<string>;
  readonly restrictions: readonly Restriction[];
};

/** What the table rejects. */
type Restriction = {
  readonly text: string;
  /** The columns, or the table if a write that names no column is rejected too. */
  readonly concerns: readonly string[];
};

export async function readTerms(client: Client, schema: string): Promise<SchemaTerms> {
  const { rows: promises } = await client.query<{ text: string }>(PROMISES, [schema]);
  const { rows: restrictions } = await client.query<Restriction>(RESTRICTIONS, [schema]);
  return { promises: new Set(promises.map(({ text }) => text)), restrictions };
}

/**
 * What statements that worked before may now fail on. New restrictions of columns that are new themselves are none:
 * older statements leave these columns to their defaults.
 */
export function contractions(before: SchemaTerms, after: SchemaTerms): readonly string[] {
  const known = new Set(before.restrictions.map(({ text }) => text));
  const lost = [...before.promises].filter((promise) => !after.promises.has(promise));
  const added = after.restrictions.filter(
    ({ text, concerns }) =>
      !known.has(text) && concerns.every((subject) => before.promises.has(subject)),
  );
  return [...lost.map((text) => `no longer: ${text}`), ...added.map(({ text }) => `new: ${text}`)];
}

const TABLES = `
  tables as (
    select c.oid, c.relname::text as name
      from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition
       and c.relname not in ('migration', 'write_check')),
  columns as (
    select t.oid, t.name as table_name, a.attnum, t.name || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
           a.attnotnull as is_required, d.adbin is not null or a.attidentity <> '' as is_given, a.attgenerated <> '' as is_generated
      from tables t
      join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum),
  unique_indexes as (
    select t.name as table_name, i.indrelid, i.indkey,
           i.indisunique and i.indisvalid as is_usable,
           '(' || (select string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' order by n)
                     from generate_series(1, i.indnkeyatts) n)
           || ')' || coalesce(' where ' || pg_get_expr(i.indpred, i.indrelid, true), '') as keys
      from tables t join pg_index i on i.indrelid = t.oid and i.indisunique)`;

const PROMISES = `
  with ${TABLES}
  select name as text from tables
  union all select name from columns
  union all select name || ' is ' || type from columns
  union all select 'unique ' || table_name || ' ' || keys from unique_indexes where is_usable
  union all
  select 'function ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ') returns ' || pg_get_function_result(p.oid)
    from pg_proc p
   where p.pronamespace = $1::regnamespace and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
  union all select 'sequence ' || relname from pg_class where relnamespace = $1::regnamespace and relkind = 'S'
  union all
  select 'value ' || e.enumlabel || ' of ' || t.typname
    from pg_type t join pg_enum e on e.enumtypid = t.oid
   where t.typnamespace = $1::regnamespace`;

const RESTRICTIONS = `
  with ${TABLES}
  select name || ' must be written' as text, array[table_name] as concerns
    from columns
   where is_required and not is_given and not is_generated
  union all select name || ' must not be null', array[name] from columns where is_required
  union all select name || ' must not be written', array[name] from columns where is_generated
  union all
  select 'unique ' || table_name || ' ' || keys,
         array(select c.name from columns c where c.oid = indrelid and c.attnum = any(indkey))
    from unique_indexes
  union all
  select t.name || ' ' || pg_get_constraintdef(k.oid, true),
         array(select c.name from columns c where c.oid = k.conrelid and c.attnum = any(k.conkey))
    from pg_constraint k join tables t on t.oid = k.conrelid
   where k.contype in ('c', 'f', 'x')`;

import type { TextRange } from "@scrip/filters";
import { isStatementTimeout, type ListSource, listReads } from "@scrip/postgres";

import { codeForms } from "../domain/code-forms.ts";
import { FOLDED } from "../domain/voucher.ts";

/** A condition with more ranges takes as long as a comparison of all codes. */
const MAX_RANGES = 64;

/**
 * Ranges of code keys, in the order of their bytes, that contain the keys of all codes that begin with `text` in any letter case,
 * and few others; undefined: they would be too many, or all. Follows the forms of each letter that codes of the project have:
 * a text of ten letters has one or two ranges, although it can be written in a thousand ways.
 */
export async function findCodeRanges(
  db: ListSource,
  projectId: string,
  text: string,
): Promise<readonly TextRange[] | undefined> {
  const letters = codeForms(text);
  if (letters.length === 0) return undefined;
  const forms = letters.flatMap((ofLetter, index) =>
    ofLetter.map((form) => ({ ...form, position: index + 1 })),
  );
  const ranges = listReads(db, projectId).query<TextRange>({
    text: `with recursive form as (
             select * from unnest($2::int[], $3::text[], $4::text[]) as form (position, text, next)),
           beginning as (
             select root.key || form.text as "from", root.key || form.next as "to", 1 as position
               from unnest(array['', $5]) as root (key), form
              where form.position = 1
              union all
             select beginning.from || form.text, beginning.from || form.next, form.position
               from beginning join form on form.position = beginning.position + 1
              where ${EXISTS}
           )
           select "from", "to" from beginning
            where position = $6 and ${EXISTS}
            limit ${MAX_RANGES + 1}`,
    values: [
      projectId,
      forms.map(({ position }) => position),
      forms.map((form) => form.text),
      forms.map(({ next }) => next),
      FOLDED,
      letters.length,
    ],
    planning: "indexLookups",
  });
  try {
    const { rows } = await ranges;
    return rows.length > MAX_RANGES ? undefined : rows;
  } catch (error) {
    // Tens of thousands of codes that differ in the case of their letters only.
    if (isStatementTimeout(error)) return undefined;
    throw error;
  }
}

/** A lookup, which a join would not be. */
const EXISTS = `(select true from voucher v
                  where v.project_id = $1 and v.code_key >= beginning.from and v.code_key < beginning.to
                  limit 1)`;

import { toBinary } from "@bufbuild/protobuf";
import { notFound, toErrorResponse } from "@scrip/errors";
import { newRequestId } from "@scrip/ids";
import { type Queryable, type ReadChunk, walkChunks } from "@scrip/postgres";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";

/** Number of stored requests that one statement reads. */
const CHUNK = 2_000;

/** Begins the response of the permanent deletion itself, which names the customer and is not erased. */
const DELETION = Buffer.from("del_");

/**
 * Replaces stored responses that name a permanently deleted customer with `not_found`: they repeat the customer's data. A
 * repetition of such a request gets the error, and has no second effect. Scans the project, as no index finds the
 * customer; repeatable.
 */
export async function eraseResponses(
  db: Queryable,
  { projectId, customerId }: { readonly projectId: string; readonly customerId: string },
): Promise<void> {
  const { error } = toErrorResponse(notFound("customer", customerId), newRequestId());
  await walkChunks({ start: "", size: CHUNK }, async (after) => {
    const { rows } = await db.query<ReadChunk<string>>(
      `with chunk as (
         select max(key) as last, count(*)::int as count
           from (select key from stored_request
                  where project_id = $1 and key > $2
                  order by key
                  limit ${CHUNK}) as next
       ), erased as (
         update stored_request
            set response = null, error = $4
          where project_id = $1 and key > $2 and key <= (select last from chunk)
            and position($3::bytea in response) > 0
            and substring(response from 3 for 4) <> $5::bytea
       )
       select last, count from chunk`,
      [projectId, after, Buffer.from(customerId), toBinary(ErrorSchema, error), DELETION],
    );
    return rows[0];
  });
}

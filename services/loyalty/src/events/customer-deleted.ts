import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { CUSTOMERS_TOPIC } from "./topics.ts";

export type Deletion = {
  readonly projectId: string;
  readonly customerId: string;
  /** Time on the project's clock. */
  readonly at: number;
  /** Other services remove all personal data, too. */
  readonly permanent: boolean;
};

export const customerDeletedEvent = ({
  projectId,
  customerId,
  at,
  permanent,
}: Deletion): OutboxEvent => ({
  projectId,
  id: newId("event"),
  topic: CUSTOMERS_TOPIC,
  type: CustomerDeletedSchema.typeName,
  key: customerId,
  payload: toBinary(
    CustomerDeletedSchema,
    create(CustomerDeletedSchema, {
      projectId,
      customerId,
      date: timestampFromMs(at),
      permanent,
    }),
  ),
});

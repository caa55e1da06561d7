import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { OutboxEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

const CUSTOMERS_TOPIC = "scrip.customers.v1";

/** Who goes, when in the project's time, and whether nothing personal is to stay. */
export type Deletion = {
  readonly projectId: string;
  readonly customerId: string;
  readonly at: number;
  readonly permanent: boolean;
};

/** Says that a customer is gone. */
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

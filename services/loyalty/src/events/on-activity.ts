import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";

import { activitiesOfEvent } from "../activity/activity-of-event.ts";
import { insertActivities } from "../store/activities.ts";
import { deletePartOfActivities } from "../store/deleted-customers.ts";

/** Stores the activities of customers. Needs no inbox: a repeated event has the id of its activity. */
export const onActivity =
  (db: Database): EventHandler =>
  async (events) => {
    await insertActivities(
      db,
      events.flatMap((event) => activitiesOfEvent(event)),
    );
    for (const event of events) {
      // An activity may have been stored while the customer was deleted.
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted !== undefined) while (await deletePartOfActivities(db, deleted));
    }
  };

import type { Producer } from "kafkajs";

type Connectable = Pick<Producer, "connect" | "disconnect">;

export type ReplacedClient<Client> = {
  /** Calls `work` with the connected client. */
  readonly use: <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

type Connected<Client> = {
  readonly client: Client;
  readonly connected: Promise<void>;
  /** How many calls are using it. */
  users: number;
};

/**
 * A client that connects when it is first used, and that a new one replaces after a failure: a client of kafkajs requests the metadata of
 * all topics that it has ever used, and fails for good once one of them no longer exists.
 */
export function createReplacedClient<Client extends Connectable>(
  make: () => Client,
): ReplacedClient<Client> {
  let isClosed = false;
  let current: Connected<Client> | undefined;
  const connect = (): Connected<Client> => {
    if (isClosed) throw new Error("the connection to Kafka is closed");
    const client = make();
    return { client, connected: client.connect(), users: 0 };
  };
  return {
    async use(work) {
      const used = (current ??= connect());
      used.users += 1;
      try {
        await used.connected;
        return await work(used.client);
      } catch (error) {
        if (current === used) current = undefined;
        throw error;
      } finally {
        used.users -= 1;
        // A replaced client: others may still wait for a response of it.
        if (current !== used && used.users === 0) used.client.disconnect().catch(() => {});
      }
    },
    async close() {
      isClosed = true;
      await current?.client.disconnect();
    },
  };
}

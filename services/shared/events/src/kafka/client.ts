import type { Producer } from "kafkajs";

type Connectable = Pick<Producer, "connect" | "disconnect">;

export type ReplacedClient<Client> = {
  /** Calls `work` with the connected client. */
  readonly use: <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
};

/**
 * A client that connects when it is first used, and that a new one replaces after a failure: a client of kafkajs requests the metadata of
 * all topics that it has ever used, and fails for good once one of them no longer exists.
 */
export function createReplacedClient<Client extends Connectable>(
  make: () => Client,
): ReplacedClient<Client> {
  let isClosed = false;
  let current: { readonly client: Client; readonly connected: Promise<void> } | undefined;
  const connect = (): NonNullable<typeof current> => {
    if (isClosed) throw new Error("the connection to Kafka is closed");
    const client = make();
    return { client, connected: client.connect() };
  };
  return {
    async use(work) {
      const used = (current ??= connect());
      try {
        await used.connected;
        return await work(used.client);
      } catch (error) {
        if (current === used) current = undefined;
        used.client.disconnect().catch(() => {});
        throw error;
      }
    },
    async close() {
      isClosed = true;
      await current?.client.disconnect();
    },
  };
}

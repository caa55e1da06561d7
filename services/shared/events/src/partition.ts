/**
 * Never change this: another number would assign the events of a key to another partition, ahead of
 * older ones.
 */
export const PARTITIONS = 12;

/**
 * The partition of a key, the same in every process and release: murmur2 as in Kafka's own clients,
 * so that both adapters agree. The hash includes the project, since tenants may use the same key.
 */
export function partitionOf(projectId: string, key: string): number {
  return (murmur2(Buffer.from(`${projectId}:${key}`)) & 0x7fffffff) % PARTITIONS;
}

const SEED = 0x9747b28c;
const MULTIPLIER = 0x5bd1e995;
const SHIFT = 24;

export function murmur2(data: Buffer): number {
  let hash = SEED ^ data.length;
  const whole = data.length & ~3;
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(data.readInt32LE(at), MULTIPLIER);
    word ^= word >>> SHIFT;
    hash = Math.imul(hash, MULTIPLIER) ^ Math.imul(word, MULTIPLIER);
  }
  const rest = data.length - whole;
  if (rest > 0) {
    for (let at = rest - 1; at >= 0; at -= 1) hash ^= data.readUInt8(whole + at) << (8 * at);
    hash = Math.imul(hash, MULTIPLIER);
  }
  hash ^= hash >>> 13;
  hash = Math.imul(hash, MULTIPLIER);
  return hash ^ (hash >>> 15);
}

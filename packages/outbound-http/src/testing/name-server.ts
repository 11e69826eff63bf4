import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';

/** What a name server says about a name: an IPv4 address, the code of a failure (RFC 1035), or nothing at all. */
export type Said = string | number | undefined;

export const SERVER_FAILURE = 2;
export const NO_SUCH_NAME = 3;

/** A name server on 127.0.0.1. */
export interface NameServer {
  /** As `setServers` takes it. */
  readonly address: string;
  /** The names that were asked for, once for each query. */
  readonly asked: readonly string[];
  /** Resolves once as many different names have been asked for. */
  untilAsked(names: number): Promise<void>;
  stop(): void;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** The question of a query, with the name and the type that it asks for. */
const questionOf = (query: Buffer) => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const bytes = query.subarray(HEADER_BYTES, at + 5);
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), bytes };
};

/** A record of the name in the question, which is valid for no time. */
const recordOf = (address: string): Buffer =>
  Buffer.from([
    0xc0,
    HEADER_BYTES,
    0,
    TYPE_A,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    4,
    ...address.split('.').map(Number),
  ]);

const answerTo = (query: Buffer, said: string | number): Buffer => {
  const { type, bytes } = questionOf(query);
  const records = typeof said === 'string' && type === TYPE_A ? [recordOf(said)] : [];
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180 + (typeof said === 'number' ? said : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, bytes, ...records]);
};

/** Starts a name server that says what `say` returns for a name. */
export const startNameServer = async (say: (name: string) => Said): Promise<NameServer> => {
  const asked: string[] = [];
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  socket.on('message', (query: Buffer, { port, address }: RemoteInfo) => {
    const { name } = questionOf(query);
    asked.push(name);
    const said = say(name);
    if (said !== undefined) socket.send(answerTo(query, said), port, address);
  });
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    async untilAsked(names) {
      while (new Set(asked).size < names) await once(socket, 'message');
    },
    stop: () => void socket.close(),
  };
};

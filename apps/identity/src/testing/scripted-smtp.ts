import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** What a client of SMTP sends, or the server by itself; `.` is the end of a message. */
export type SmtpStep = 'banner' | 'EHLO' | 'STARTTLS' | 'AUTH' | 'MAIL' | 'RCPT' | 'DATA' | '.';

/** A reply; or no reply, or the end of the connection without one. */
export type SmtpReply = string | 'silence' | 'cut';

export interface ScriptedSmtp {
  readonly port: number;
  /** The addresses of `RCPT TO` commands so far. */
  readonly recipients: readonly string[];
  /** How many clients have connected. */
  readonly connections: number;
  /** The Message-IDs of the messages that were received completely. */
  readonly messageIds: readonly string[];
  /** Changes replies. A function gets the text of the command. */
  reply(replies: Partial<Record<SmtpStep, SmtpReply | ((command: string) => SmtpReply)>>): void;
  stop(): Promise<void>;
}

const normal: Readonly<Record<SmtpStep, SmtpReply>> = {
  banner: '220 test ESMTP',
  EHLO: '250 test',
  STARTTLS: '454 no TLS',
  AUTH: '235 welcome',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  '.': '250 accepted',
};

/** An SMTP server whose reply to each step is chosen by the test. */
export const startScriptedSmtp = async (): Promise<ScriptedSmtp> => {
  let replies: Parameters<ScriptedSmtp['reply']>[0] = {};
  const recipients: string[] = [];
  const messageIds: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const perform = (socket: Socket, step: SmtpStep, command = ''): string | undefined => {
    const scripted = replies[step] ?? normal[step];
    const reply = typeof scripted === 'function' ? scripted(command) : scripted;
    if (reply === 'silence') return undefined;
    if (reply === 'cut') socket.destroy();
    else socket.write(`${reply}\r\n`);
    return reply;
  };

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
    let received = '';
    let isMessage = false;
    perform(socket, 'banner');
    socket.on('data', (data) => {
      received += data;
      for (;;) {
        const end = received.indexOf(isMessage ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const text = received.slice(0, end);
        received = received.slice(end + (isMessage ? 5 : 2));
        if (isMessage) {
          isMessage = false;
          messageIds.push(/^Message-ID: (.*)$/im.exec(text)?.[1] ?? '');
          perform(socket, '.');
          continue;
        }
        const verb = text.split(/[ :]/, 1)[0]?.toUpperCase() ?? '';
        if (verb === 'QUIT') return void socket.end('221 bye\r\n');
        if (verb === 'RCPT') recipients.push(/<(.*)>/.exec(text)?.[1] ?? '');
        const reply = perform(socket, verb as SmtpStep, text);
        isMessage = verb === 'DATA' && reply?.startsWith('354') === true;
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    recipients,
    messageIds,
    get connections() {
      return connections;
    },
    reply(next) {
      replies = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { worstPicture } from '../files.ts';
import { aborted, type Noise, type NoisyAccess, type NoisyTenant, repeatedly } from '../noise.ts';
import { dataOf } from '../sender.ts';

let picture: Buffer;

/** One request at a time: a person needs no more. */
const pictures: Noise<NoisyAccess> = {
  name: 'noisy-picture',
  title: 'identity: uploads of a picture of 409 KB with 7071 × 7071 pixels of 16 bits',
  async prepare() {
    picture ??= await worstPicture();
  },
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 1, perMinute: 60 }, () => ({
      method: 'PUT',
      url: `${tenant.identity}/api/profile/picture`,
      token: tenant.tokens.owner,
      headers: { 'content-type': 'image/png' },
      body: picture,
    })),
};

/** Requests whose body never ends. */
const unfinished = async (
  signal: AbortSignal,
  url: string,
  { count, head, sent }: { readonly count: number; readonly head: string; readonly sent: Buffer },
): Promise<void> => {
  const { port } = new URL(url);
  const sockets: Socket[] = [];
  for (let n = 0; n < count && !signal.aborted; n += 1) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: '127.0.0.2' });
    socket.on('error', () => undefined).resume();
    socket.write(head);
    socket.write(sent);
    sockets.push(socket);
    // The queue of new connections is short.
    if (n % 50 === 49) await aborted(signal, 20);
  }
  await aborted(signal);
  for (const socket of sockets) socket.destroy();
};

const uploads: Noise<NoisyAccess> = {
  name: 'noisy-uploads',
  title: 'identity: one person holds 58 unfinished uploads of pictures',
  make: (tenant, signal) =>
    unfinished(signal, tenant.identity, {
      count: 58,
      head: `PUT /api/profile/picture HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.tokens.owner}\r\nContent-Type: image/png\r\nContent-Length: 5000000\r\n\r\n`,
      sent: Buffer.alloc(4_900_000, 1),
    }),
};

const bodies: Noise<NoisyAccess> = {
  name: 'noisy-bodies',
  title: 'identity: 4,500 connections hold unfinished bodies at /oauth/token without an account',
  make: (tenant, signal) =>
    unfinished(signal, tenant.identity, {
      count: 4500,
      head: 'POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 131000\r\n\r\n',
      sent: Buffer.alloc(130_000, 'a'),
    }),
};

let registered = 0;

const registrations: Noise = {
  name: 'noisy-registrations',
  title: 'identity: 59 registrations at once',
  make: (tenant, signal) =>
    repeatedly(tenant, signal, { connections: 59, perMinute: 60 }, () => {
      registered += 1;
      // A password must not contain a name.
      const password = `${randomBytes(12).toString('hex')}-aA1`;
      return {
        method: 'POST',
        url: `${tenant.identity}/api/auth/register`,
        json: {
          first_name: 'Nina',
          last_name: 'Noise',
          email: `noise-${process.pid}-${registered}@noisy.test`,
          password,
          password_confirmation: password,
          tenant_name: `Noise ${registered}`,
        },
      };
    }),
};

let invited = 0;

/** Invites people whose mail server does not answer. */
const invite = (tenant: NoisyTenant): Promise<unknown> => {
  invited += 1;
  return tenant.sender
    .send({
      method: 'POST',
      url: `${tenant.identity}/api/tenants/${tenant.system.owner.tenant_id}/members`,
      token: tenant.tokens.owner,
      json: { email: `noise-${process.pid}-${invited}@held.test`, role: 'viewer' },
    })
    .then((answer) => dataOf(tenant.note(answer), 'invite'));
};

const mails: Noise = {
  name: 'noisy-mails',
  title: 'identity: a mail server does not answer, and 30 mails wait for it',
  async prepare(tenant) {
    tenant.smtp.hold((address) => address.endsWith('@held.test'));
  },
  async make(tenant, signal) {
    for (let count = 0; count < 30; count += 1) await invite(tenant).catch(() => undefined);
    await aborted(signal);
  },
};

export const identityNoises: readonly Noise[] = [pictures, uploads, bodies, registrations, mails];

/** Those that need nothing but accounts. */
export const plainIdentityNoises: readonly Noise<NoisyAccess>[] = [pictures, uploads];

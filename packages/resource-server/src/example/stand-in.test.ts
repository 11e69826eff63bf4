import { listen } from '@tessera/http-kit';
import { IdentityStandIn } from '@tessera/resource-server/testing';
import { createRooms } from './rooms.ts';

test('a service is tested against a stand-in for identity as the README shows', async () => {
  const identity = await new IdentityStandIn().start();
  const { app, resourceServer } = createRooms(identity.url, []);
  await resourceServer.start();
  const { url, stop } = await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  try {
    const ada = identity.signIn({ policies: [{ action: '*', effect: 'allow' }] });
    const status = async () => (await fetch(`${url}/bookings`, { headers: ada.headers })).status;
    expect(await status()).toBe(200);
    identity.setPolicies(ada, []);
    expect(await status()).toBe(403);
    identity.intercept('/api/user', () => ({ status: 500, body: '' }));
    expect(await status()).toBe(503);
    identity.restore();
    identity.revoke(ada);
    expect(await status()).toBe(401);
  } finally {
    await stop(0);
    await resourceServer.stop();
    await identity.stop();
  }
});

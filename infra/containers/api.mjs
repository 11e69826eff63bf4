// Client operations on a running system.
import { call } from '../../packages/local-stack/src/system/requests.ts';
import { within } from './within.mjs';

const expect = (answer, status, what) => {
  if (answer.status === status) return answer.body;
  throw new Error(`${what} got the response ${answer.status}: ${answer.text}`);
};

/** Signs in with one of the system's accounts; returns the token. */
export const signIn = async (system, who) => {
  const { email, password } = system[who];
  const url = `${system.identity_url}/api/auth/login`;
  const answer = await call('POST', url, { body: { email, password } });
  return expect(answer, 200, `The sign-in of ${who}`).data.token;
};

/** Creates a contact; returns its id. */
export const createContact = async (system, token, first_name) => {
  const url = `${system.crm_url}/api/crm/contacts`;
  const answer = await call('POST', url, { token, body: { first_name } });
  return expect(answer, 201, 'A new contact').data.id;
};

/** Throws unless the contact can be read. */
export const readContact = async (system, token, id) => {
  const url = `${system.crm_url}/api/crm/contacts/${id}`;
  return expect(await call('GET', url, { token }), 200, 'Reading a contact');
};

/** The smallest PNG: one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Verifies that the image contains the native library for image conversion. */
export const provePicture = async (system) => {
  const response = await fetch(`${system.identity_url}/api/profile/picture`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await signIn(system, 'owner')}`,
      'content-type': 'image/png',
    },
    body: PIXEL,
  });
  const text = await response.text();
  const { data } = expect(
    { status: response.status, body: JSON.parse(text), text },
    200,
    'A picture',
  );
  const { status, headers } = await fetch(data.avatar_url);
  if (status !== 200 || headers.get('content-type') !== 'image/webp') {
    throw new Error(
      `The picture got the response ${status} with type ${headers.get('content-type')}.`,
    );
  }
};

const setRole = async (system, token, role) => {
  const { tenant_id, user_id } = system.viewer;
  const url = `${system.identity_url}/api/tenants/${tenant_id}/members/${user_id}`;
  expect(await call('PUT', url, { token, body: { role } }), 200, `The role ${role}`);
};

const waitForAnswer = (system, token, status) =>
  within(`CRM responds to a viewer's new contact with ${status}`, async () => {
    const url = `${system.crm_url}/api/crm/contacts`;
    const answer = await call('POST', url, { token, body: { first_name: 'Viktor' } });
    return answer.status === status;
  });

/**
 * Verifies that the whole system works: a user signs in and creates a contact, and CRM enforces a role change
 * announced by an event, although it has cached the viewer's permissions.
 */
export const proveWorks = async (system) => {
  const owner = await signIn(system, 'owner');
  const viewer = await signIn(system, 'viewer');
  await createContact(system, owner, 'Ágnes');
  await waitForAnswer(system, viewer, 403);
  await setRole(system, owner, 'member');
  await waitForAnswer(system, viewer, 201);
  await setRole(system, owner, 'viewer');
  await waitForAnswer(system, viewer, 403);
};

/** Verifies that a password reset request sends a mail. */
export const proveMail = async (system, port) => {
  const { email } = system.person;
  const mails = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/messages?limit=500`);
    const { messages } = await response.json();
    return messages.filter(({ To }) => To.some(({ Address }) => Address === email)).length;
  };
  const before = await mails();
  const url = `${system.identity_url}/api/auth/password/forgot`;
  const { status, text } = await call('POST', url, { body: { email } });
  if (status >= 300)
    throw new Error(`The password reset request got the response ${status}: ${text}`);
  await within('the mail arrives', async () => (await mails()) > before);
};

import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createContact, readContact, signIn } from './api.mjs';
import { within } from './within.mjs';

/**
 * Sends a request except for its last byte; returns a function that sends the rest and returns the status of
 * the response.
 */
const beginRequest = async (url, token, body) => {
  const { hostname, port, pathname } = new URL(url);
  const content = JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Content-Type: application/json',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(content)}`,
    ...(token ? [`Authorization: Bearer ${token}`] : []),
    '',
    '',
  ];
  socket.write(head.join('\r\n') + content.slice(0, -1));
  return async () => {
    socket.write(content.slice(-1));
    const answer = await text(socket);
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
  };
};

const isClosed = (url) =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => !ok,
    () => true,
  );

/** Stops a service during a request and verifies that the request is answered. */
const stopWhileAsked = async (project, app, { url, path, token, body, expected }) => {
  const end = await beginRequest(`${url}${path}`, token, body);
  const stopped = project.compose(['stop', app]);
  await within(`${app} takes no further request`, () => isClosed(url));
  const status = await end();
  if (status !== expected) throw new Error(`${app} answers a running request with ${status}.`);
  await stopped;
  const { State } = await project.container(app);
  if (State.ExitCode !== 0) throw new Error(`${app} ended with ${State.ExitCode}.`);
};

/**
 * Stops everything, each service during a request, and verifies a clean shutdown. The data must be there after
 * a restart.
 */
export const proveStop = async (project, system) => {
  const token = await signIn(system, 'owner');
  const contact = await createContact(system, token, 'Ilona');
  await stopWhileAsked(project, 'crm', {
    url: system.crm_url,
    path: '/api/crm/contacts',
    token,
    body: { first_name: 'Márta' },
    expected: 201,
  });
  await stopWhileAsked(project, 'identity', {
    url: system.identity_url,
    path: '/api/auth/login',
    body: { email: system.owner.email, password: system.owner.password },
    expected: 200,
  });
  await project.compose(['stop']);
  for (const { Name, State } of await project.containers()) {
    // 143: a JVM ended by SIGTERM. 137 would be a killed process.
    if (![0, 143].includes(State.ExitCode)) {
      throw new Error(`${Name} ended with ${State.ExitCode}.`);
    }
  }
  await project.up();
  await readContact(system, await signIn(system, 'owner'), contact);
};

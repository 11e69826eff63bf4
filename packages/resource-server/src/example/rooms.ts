import { list, shape, text } from '@tessera/fields';
import { createLimits, createLogger, errorHandler, mount, routesFor } from '@tessera/http-kit';
import { type Caller, createResourceServer, requireUser } from '@tessera/resource-server';
import express, { type Express } from 'express';

type Permission = 'bookings.list' | 'bookings.create';
const route = routesFor<Caller<Permission>, Permission>();

const Booking = shape({ room: text(100), booked_by: text(100) });
const bookingsByTenant = new Map<string, { room: string; booked_by: string }[]>();
const bookingsOf = ({ tenantId }: Caller<Permission>) => bookingsByTenant.get(tenantId) ?? [];

const listBookings = route({
  method: 'get',
  path: '/bookings',
  summary: "The tenant's bookings",
  permission: 'bookings.list',
  responses: { 200: list(Booking) },
  handler: ({ caller, reply }) => reply(200, bookingsOf(caller)),
});
const createBooking = route({
  method: 'post',
  path: '/bookings',
  summary: 'Book a room for oneself',
  permission: 'bookings.create',
  body: shape({ room: text(100) }),
  responses: { 201: Booking },
  handler({ caller, body, reply }) {
    const booking = { room: body.room, booked_by: requireUser(caller) };
    bookingsByTenant.set(caller.tenantId, [...bookingsOf(caller), booking]);
    return reply(201, booking);
  },
});

export const createRooms = (identityUrl: string, kafkaBrokers: readonly string[]) => {
  const resourceServer = createResourceServer<Permission>({
    service: 'rooms',
    identity: { url: identityUrl, timeoutMs: 2000 },
    kafkaBrokers,
    lifetimes: { policies: 3_600_000, principals: 15_000 },
    logger: createLogger('rooms', 'info'),
  });
  const limits = createLimits<Caller>({
    classes: { default: { window: 60, address: 6000, principal: 600 } },
    principalKey: ({ principal }) => principal.id,
  });
  const routes = { Rooms: { listBookings, createBooking } };
  const app: Express = express();
  app.use(mount(routes, { gate: resourceServer.gate, limits, bodyLimit: 10_000 }));
  app.use(
    errorHandler({
      render: ({ message, code, errors, details }) => ({
        message,
        error: code,
        errors,
        ...details,
      }),
    }),
  );
  return { app, resourceServer };
};

import { pictureSides } from '@tessera/content-worker';
import { fileBody, forwarded, notFound, type RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { Profile, presentProfile } from '../profile/profile.schema.ts';
import { DEADLINE_MS, MAX_BYTES, pictureTypes } from './picture.image.ts';
import type { PictureService } from './picture.service.ts';

/** Cache lifetime in seconds; a URL never changes its picture. */
const CACHE_SECONDS = 86_400;

const IDLE_MS = 10_000;

const sizeOf = (pixels: unknown): keyof typeof pictureSides => {
  if (pixels === `${pictureSides.small}`) return 'small';
  if (pixels === `${pictureSides.large}`) return 'large';
  throw notFound();
};

const KEY = /^[\w-]{43}$/;

export const pictureRoutes = (pictures: PictureService): RouteTable => ({
  updatePicture: route({
    method: 'put',
    path: '/api/profile/picture',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Set your profile picture',
    description:
      'The body is the file: JPEG, PNG, WebP or GIF of at most 50 megapixels and 100 MB when it is decoded, which large pictures exceed if they are interlaced, progressive, animated or WebP (a progressive JPEG with more than 16 megapixels, for example). An account uploads one picture at a time (429 `too_many_uploads`). It is rotated upright, cropped to a square, resized and stored as WebP without metadata. `avatar_url` is the URL of the picture with 256 pixels; replace `/256` with `/512` for 512 pixels.',
    body: fileBody({
      types: pictureTypes,
      maxBytes: MAX_BYTES,
      deadlineMs: DEADLINE_MS,
      idleMs: IDLE_MS,
    }),
    responses: { 200: success(Profile) },
    problems: { 415: 'The body is not an image of an accepted type' },
    async handler({ caller, body, req, reply }) {
      const person = personOf(caller);
      const place = await pictures.begin(person, body.announcedSize);
      try {
        const user = await pictures.set(person, await place.read(body.content), originOf(req));
        return reply(200, { success: true, data: presentProfile(user) });
      } finally {
        place.leave();
      }
    },
  }),
  deletePicture: route({
    method: 'delete',
    path: '/api/profile/picture',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Remove your profile picture',
    responses: { 200: success(Profile) },
    async handler({ caller, req, reply }) {
      const user = await pictures.remove(personOf(caller), originOf(req));
      return reply(200, { success: true, data: presentProfile(user) });
    },
  }),
  showPicture: forwarded({
    method: 'get',
    path: '/pictures/{key}/{pixels}',
    // Browsers request many pictures at once, and users share addresses.
    limit: 'service',
    summary: 'Get the profile picture of a user',
    // Frontends on other origins embed it.
    crossOrigin: 'embedding',
    // Shown by browsers; only `avatar_url` contains the unguessable URL.
    isPage: true,
    responses: {},
    async forward({ params: { key = '', pixels } }, res) {
      const size = sizeOf(pixels);
      const content = KEY.test(String(key)) ? await pictures.file(String(key), size) : null;
      if (content === null) throw notFound();
      res
        .set('Cache-Control', `public, max-age=${CACHE_SECONDS}, immutable`)
        .set('Cross-Origin-Resource-Policy', 'cross-origin')
        .type('image/webp')
        .send(Buffer.from(content));
    },
  }),
});

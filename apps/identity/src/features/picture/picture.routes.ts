import { binary, forwarded, notFound, type RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import { Profile, presentProfile } from '../profile/profile.schema.ts';
import { MOST_BYTES, pictureTypes, sizes } from './picture.image.ts';
import type { PictureService } from './picture.service.ts';

/** Seconds that a picture is kept by browsers: its address never shows another one. */
const KEPT = 86_400;

const sizeOf = (pixels: unknown): keyof typeof sizes => {
  if (pixels === `${sizes.small}`) return 'small';
  if (pixels === `${sizes.large}`) return 'large';
  throw notFound();
};

const KEY = /^[\w-]{43}$/;

export const pictureRoutes = (pictures: PictureService): RouteTable => ({
  updatePicture: route({
    method: 'put',
    path: '/api/profile/picture',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Set one’s own picture',
    description:
      'Takes the file itself: JPEG, PNG, WebP or GIF, of at most 50 megapixels. It is turned upright, cut to a square, resized and stored as WebP without metadata. `avatar_url` is then the address of the picture, 256 pixels square; with `/512` in the place of `/256` it is that of 512 pixels.',
    body: binary(pictureTypes, MOST_BYTES),
    responses: { 200: success(Profile) },
    problems: { 415: 'The body is not an image of a type that is taken' },
    async handler({ caller, body, req, reply }) {
      const user = await pictures.set(personOf(caller), body, originOf(req));
      return reply(200, { success: true, data: presentProfile(user) });
    },
  }),
  deletePicture: route({
    method: 'delete',
    path: '/api/profile/picture',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Remove one’s own picture',
    responses: { 200: success(Profile) },
    async handler({ caller, req, reply }) {
      const user = await pictures.remove(personOf(caller), originOf(req));
      return reply(200, { success: true, data: presentProfile(user) });
    },
  }),
  showPicture: forwarded({
    method: 'get',
    path: '/pictures/{key}/{pixels}',
    // Browsers ask for many at once, and many people share an address.
    limit: 'service',
    summary: 'The picture of a person',
    // Shown by browsers, with an address that only `avatar_url` tells.
    isPage: true,
    responses: {},
    async forward({ params: { key = '', pixels } }, res) {
      const size = sizeOf(pixels);
      const content = KEY.test(String(key)) ? await pictures.file(String(key), size) : null;
      if (content === null) throw notFound();
      res
        .set('Cache-Control', `public, max-age=${KEPT}, immutable`)
        // Frontends of other origins show it.
        .set('Cross-Origin-Resource-Policy', 'cross-origin')
        .type('image/webp')
        .send(Buffer.from(content));
    },
  }),
});

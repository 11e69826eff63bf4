import { basesOf, officialImages, pulledBy } from './images.mjs';

test('The images that a Dockerfile starts from are those that it does not build itself', () => {
  const dockerfile = `
ARG NODE_VERSION=24.1.0
FROM node:\${NODE_VERSION}-slim AS node
FROM node AS build
FROM --platform=linux/amd64 example.com/base:nonroot
FROM scratch
`;
  expect(basesOf(dockerfile)).toEqual(['node:24.1.0-slim', 'example.com/base:nonroot']);
});

test('A compose file pulls the images of services that it does not build', () => {
  const compose = `
x-app: &app
  image: app:local
  build: .
services:
  app: { <<: *app }
  database: { image: 'postgres:18' }
  secrets: { image: 'postgres:18' }
`;
  expect(pulledBy(compose)).toEqual(['postgres:18']);
});

test('Every official image has a version', () => {
  expect(officialImages().length).toBeGreaterThan(3);
  for (const image of officialImages()) expect(image).toMatch(/:(?!latest$)[\w.-]+$/);
});

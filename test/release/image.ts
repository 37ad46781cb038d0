/**
 * A step of `npm run release:check`, and alone `node test/release/image.ts`: builds the image of the Dockerfile, starts it, and tries
 * what docs/deploy.md promises. It takes buildah, podman and root; without them it says so.
 */

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../package/slim-root.ts'
import { Containers, whyNoImages } from './containers.ts'
import { buildImage } from './image-build.ts'
import { checkContents } from './image-contents.ts'
import { placeFor } from './image-places.ts'
import { prepare, tryImage } from './image-traffic.ts'
import { NotRun, step } from './step.ts'

const clone = fileURLToPath(new URL('../..', import.meta.url))
const MEBIBYTE = 1024 * 1024

/**
 * @param context the clone that the image is made of
 * @returns what was seen
 * @throws NotRun if this machine cannot build images, and another error for a promise that does not hold
 */
export async function checkImage(context = clone): Promise<string> {
  const reason = whyNoImages()
  if (reason !== null) throw new NotRun(reason)
  await using stack = new AsyncDisposableStack()
  const t: Owner = { teardown: (end) => stack.defer(async () => void (await end())) }
  const containers = stack.use(new Containers())
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: context, encoding: 'utf8' }).trim()
  const before = performance.now()
  const image = await buildImage(containers, context, commit)
  const took = Math.round((performance.now() - before) / 1000)
  const root = (await containers.podman('image', 'mount', image.tag)).trim()
  const parts = checkContents(root, context, commit)
  const setting = await prepare(t, context)
  const seen = await tryImage(await placeFor(t, containers, image, setting), setting)
  const bases = image.assembled.length === 0 ? 'pulled' : `put together here: ${image.assembled.join(', ')}`
  const size = `${Math.round(image.size / MEBIBYTE)} MiB (${parts})`
  return `built in ${took} s on bases ${bases}; ${size}; ${seen}`
}

if (import.meta.main) {
  const { result, detail } = await step('image', () => checkImage())
  console.log(`image: ${result}: ${detail}`)
  if (result === 'failed') process.exitCode = 1
}

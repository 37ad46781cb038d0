/** The image as users build it: the unchanged Dockerfile, with the registry and the certificates of the machine's npm. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npmCache, npmSettings } from '../package/node-versions.ts'
import { provideBases } from './base-images.ts'
import type { Containers } from './containers.ts'

const TAG = 'localhost/seatgate:check'
/** The file of npm's certificates in the stages. */
const AUTHORITIES = '/etc/ssl/machine.pem'

export interface Image {
  readonly tag: string
  /** The base images that were put together here. */
  readonly assembled: readonly string[]
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly environment: readonly string[]
  readonly folder: string
  readonly volumes: readonly string[]
  readonly healthcheck: readonly string[]
  /** The size of all layers in bytes, unpacked. */
  readonly size: number
}

/**
 * @param context the folder with the Dockerfile
 * @param commit the name that `seatgate --version` shows
 */
export async function buildImage(containers: Containers, context: string, commit: string): Promise<Image> {
  const assembled = await provideBases(containers, readFileSync(join(context, 'Dockerfile'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'seatgate-npm-'))
  try {
    const options = [`--build-arg=COMMIT=${commit}`, `--tag=${TAG}`, ...mountsOf(folder)]
    // Buildah's own isolation needs a network namespace and more of the kernel than every machine has.
    const isolation = ['--isolation=chroot', '--network=host', '--pull-never']
    await containers.buildah('bud', '--quiet', '--format=docker', ...isolation, ...options, context)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { ...(await inspect(containers)), assembled }
}

/** The settings and the cache of npm are mounted, so that the image has none of them. The lock file has the hash of each package. */
function mountsOf(folder: string): string[] {
  const { npmrc, authorities } = npmSettings(AUTHORITIES)
  writeFileSync(join(folder, 'npmrc'), npmrc)
  const mounts = [`--volume=${join(folder, 'npmrc')}:/root/.npmrc:ro`, `--volume=${npmCache()}:/root/.npm`]
  if (authorities !== null) mounts.push(`--volume=${authorities}:${AUTHORITIES}:ro`)
  return mounts
}

async function inspect(containers: Containers): Promise<Omit<Image, 'assembled'>> {
  const [image] = JSON.parse(await containers.podman('image', 'inspect', TAG))
  const { Config: config } = image
  return {
    tag: TAG,
    user: config.User,
    entrypoint: config.Entrypoint,
    command: config.Cmd,
    environment: config.Env,
    folder: config.WorkingDir,
    volumes: Object.keys(config.Volumes),
    healthcheck: image.Healthcheck.Test.slice(1),
    size: image.Size,
  }
}

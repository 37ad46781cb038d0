/** Where the image runs: in containers of podman, or else in a root of its own with the same user and mounts. */

import { cpSync } from 'node:fs'
import { type Owner, Root, type Started } from '../package/slim-root.ts'
import type { Containers } from './containers.ts'
import type { Image } from './image-build.ts'

export interface Place {
  readonly name: string
  /** Lines that the kernel's status of the gateway has, besides those of its user. */
  readonly status: readonly RegExp[]
  /** Runs a command of `seatgate` to its end. Rejects with its output unless the status is 0. */
  run(...args: string[]): Promise<string>
  /** Starts the command of the image. */
  start(): Started
  /** Runs a program beside the gateway, as its user and on its root. */
  beside(...args: string[]): Promise<string>
  /** Runs the health check. Rejects if the gateway is unhealthy. */
  health(): Promise<string>
}

export interface Mounts {
  /** The folder that is mounted at /config. */
  readonly config: string
  readonly env: Readonly<Record<string, string>>
}

const NAME = 'gateway'
/** Podman asks for limits of a million otherwise, which root of a container may not set. */
const LIMITS = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096']
/** Seconds after which podman ends a container, even if the process that started it was killed. */
const LIFETIME = 600
const HARDENED = [
  ...['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges'],
  ...['--network=host', `--timeout=${LIFETIME}`, ...LIMITS],
]

/** Resolves with podman, if it can start a container here. */
export async function placeFor(
  t: Owner,
  containers: Containers,
  image: Image,
  mounts: Mounts,
): Promise<Place> {
  const place = podman(containers, image, mounts)
  try {
    await place.run('--version')
    return place
  } catch (cause) {
    const { message } = cause as Error
    const name = `a root of its own, as podman cannot start a container (${message.split('\n').at(-1)})`
    return { ...(await chroot(t, containers, image, mounts)), name }
  }
}

function podman(containers: Containers, image: Image, { config, env }: Mounts): Place {
  const options = [
    ...[...HARDENED, `--volume=${config}:/config:ro`, '--volume=data:/data'],
    ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
  ]
  return {
    name: 'podman',
    status: [/^CapBnd:\t0+$/m, /^NoNewPrivs:\t1$/m],
    run: (...args) => containers.podman('run', '--rm', '--no-healthcheck', ...options, image.tag, ...args),
    // Without systemd podman has no timer for the check.
    start: () => containers.start(NAME, ...options, '--health-interval=disable', image.tag),
    beside: (...args) => containers.podman('exec', NAME, ...args),
    health: () => containers.podman('healthcheck', 'run', NAME),
  }
}

async function chroot(
  t: Owner,
  containers: Containers,
  image: Image,
  mounts: Mounts,
): Promise<Omit<Place, 'name'>> {
  const id = (await containers.buildah('from', '--pull-never', image.tag)).trim()
  const root = new Root((await containers.buildah('mount', id)).trim())
  cpSync(mounts.config, root.path('config'), { recursive: true })
  const settings = Object.fromEntries(image.environment.map((each) => each.split(/=(.*)/s)))
  const command = {
    cwd: image.folder,
    env: { ...settings, ...mounts.env },
    uid: Number(image.user.split(':')[0]),
    writable: image.volumes,
  }
  const { entrypoint } = image
  return {
    status: [],
    run: (...args) => root.run(t, [...entrypoint, ...args], command),
    start: () => root.start(t, [...entrypoint, ...image.command], command),
    beside: (...args) => root.run(t, args, command),
    health: () => root.run(t, image.healthcheck, command),
  }
}

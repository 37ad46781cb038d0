/** buildah and podman, with images, containers and volumes in a folder of their own. Nothing of the machine's own is changed. */

import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasProgram } from '../support/servers/apt.ts'
import { Started } from '../package/slim-root.ts'

/** Why no image can be built on this machine; null: one can. */
export function whyNoImages(): string | null {
  const missing = ['buildah', 'podman'].filter((program) => !hasProgram(program))
  if (missing.length > 0)
    return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not installed`
  return process.getuid?.() === 0 ? null : 'only root can mount the image and read the state of its process'
}

export class Containers implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'seatgate-containers-'))

  /** Resolves with the standard output. Rejects with the last lines that it printed. */
  buildah(...args: string[]): Promise<string> {
    return output('buildah', [...this.#storage(), ...args])
  }

  podman(...args: string[]): Promise<string> {
    return output('podman', [...this.#podman(), ...args])
  }

  /** Starts `podman run` in the foreground: it has the output and the status of the container. */
  start(name: string, ...args: string[]): Started {
    const line = [...this.#podman(), 'run', '--rm', `--name=${name}`, ...args]
    const child = spawn('podman', line, { stdio: ['ignore', 'pipe', 'pipe'] })
    return new Started(child, async () =>
      Number(await this.podman('inspect', '--format={{.State.Pid}}', name)),
    )
  }

  /** Ends the containers, and removes all images and the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.podman('rm', '--all', '--force', '--time=0')
    await this.buildah('rm', '--all')
    await this.podman('image', 'unmount', '--all', '--force')
    await this.podman('rmi', '--all', '--force')
    rmSync(this.#folder, { recursive: true, maxRetries: 10 })
  }

  #storage(): string[] {
    return [`--root=${join(this.#folder, 'storage')}`, `--runroot=${join(this.#folder, 'run')}`]
  }

  /** With runc if it is installed: crun needs features that not every kernel has. */
  #podman(): string[] {
    const own = [`--tmpdir=${join(this.#folder, 'libpod')}`, `--volumepath=${join(this.#folder, 'volumes')}`]
    const runtime = hasProgram('runc') ? ['--runtime=runc'] : []
    return [...this.#storage(), ...own, '--cgroup-manager=cgroupfs', '--events-backend=none', ...runtime]
  }
}

/** Lines of a failed program that its message has. */
const LAST = 20

async function output(program: string, args: readonly string[]): Promise<string> {
  const run = promisify(execFile)(program, args, { maxBuffer: Infinity, encoding: 'utf8' })
  const { stdout } = await run.catch((error: Error & { stdout: string; stderr: string }) => {
    const lines = `${error.stdout}\n${error.stderr}`.trim().split('\n')
    const command = args.find((each) => !each.startsWith('-')) ?? ''
    throw new Error(`${program} ${command}: ${lines.slice(-LAST).join('\n') || error.message}`)
  })
  return stdout
}

/** A worker whose primary is frozen: what only the primary knows is refused after a while. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { remoteEphemeral } from '../../../src/oidc/sign-in/completed-sign-ins.ts'
import { Channel } from '../../../src/runtime/workers/channel.ts'
import { WorkerActivity } from '../../../src/runtime/workers/worker-activity.ts'
import { ProcessActivity } from '../../../src/telemetry/process-activity.ts'

t.test('no call of a worker waits for a frozen primary for good', async (t) => {
  const primary = spawn(process.execPath, ['--eval', 'process.on("message", () => {})'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  t.teardown(() => primary.kill('SIGKILL'))
  await once(primary, 'spawn')
  primary.kill('SIGSTOP')
  const channel = new Channel({
    send: (message) => void primary.send(message as object),
    onMessage: (receive) => void primary.on('message', receive),
  })
  const ephemeral = remoteEphemeral(channel)
  const activity = new WorkerActivity(new ProcessActivity(), channel)
  const filter = { tenant: 'acme', space: null, code: null }
  const question = { ...filter, limit: 1, before: null, requestId: '' }
  const calls: Record<string, Promise<unknown>> = {
    epoch: ephemeral.epoch(),
    use: ephemeral.use('acme', 'an epoch', 'an id', 1000),
    routeUses: activity.routeUses('acme'),
    decisions: activity.decisions(question),
    watch: activity.watch(filter, () => true),
  }
  await Promise.all(
    Object.entries(calls).map(([name, call]) => t.rejects(call, /the other process does not respond/, name)),
  )
})

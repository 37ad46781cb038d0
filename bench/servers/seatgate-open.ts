/**
 * Seatgate with routing and authorization switched off, for the bench alone: the decision engine is replaced
 * by one that allows everything without a check; with `bare` also without log and metrics. No setting does
 * this, and the gateway has no code for it: methods are replaced here, in this process.
 */

import { enableCompileCache } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import type { AuthorizationRequest } from '../../src/model/authorization-request.ts'
import { type Evaluation, PathParams } from '../../src/model/decision.ts'
import { type Route, UNSCOPED } from '../../src/model/route.ts'

// As in `seatgate.js`, before any of the code is read.
enableCompileCache()
setFlagsFromString('--semi-space-growth-factor=1')
const { DecisionEngine } = await import('../../src/decision/engine.ts')
const { AccessLog } = await import('../../src/telemetry/access-log.ts')
const { Metrics } = await import('../../src/telemetry/metrics.ts')

const route: Route = Object.freeze({
  id: 'ANY /*',
  method: 'ANY',
  path: '/*',
  requirement: 'public',
  target: Object.freeze({ kind: 'upstream', name: 'main' }),
  maxBody: 10 * 1024 * 1024,
  responseTimeout: null,
  ...UNSCOPED,
  signIn: null,
  cors: null,
  place: null,
})

const NO_SEATS = Object.freeze([])
const NO_TIME = Object.freeze({ match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 })

/** The path is split from its query, and not checked. */
DecisionEngine.prototype.evaluate = ({ method, target }: AuthorizationRequest): Evaluation => {
  const mark = target.indexOf('?')
  return {
    decision: {
      answer: 'allow',
      code: 'allow',
      reason: '',
      method,
      path: mark < 0 ? target : target.slice(0, mark),
      route,
      permission: 'public',
      principal: null,
      space: null,
      seats: NO_SEATS,
      grantedIn: [],
      source: null,
      timings: NO_TIME,
      config: null,
    },
    refusal: null,
    grants: null,
    caller: null,
    params: PathParams.none,
    query: mark < 0 ? '' : target.slice(mark),
    cors: null,
    preflight: null,
  }
}

// The command reads its arguments from here.
const [node = '', script = '', mode = '', file = ''] = process.argv
if (mode !== 'open' && mode !== 'bare') throw new Error(`neither open nor bare: ${mode}`)
if (mode === 'bare') {
  AccessLog.prototype.write = () => {}
  Metrics.prototype.requestStarted = () => {}
  Metrics.prototype.countRequest = () => {}
}
process.argv = [node, script, 'start', '--config', file]
await import(new URL('../../src/cli/seatgate.js', import.meta.url).href)

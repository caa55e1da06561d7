{{- define "scrip.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The processes and which services each calls, as oxlint.config.ts has it. */}}
{{- define "scrip.graph" -}}
gateway: [export, validation, voucher, campaign, loyalty]
export: [validation, campaign, voucher, loyalty]
validation: [voucher, campaign, loyalty]
campaign: [voucher]
voucher: [loyalty]
loyalty: []
{{- end -}}

{{/* The settings of a process: defaults, and its own over them. Takes the root and `name`. */}}
{{- define "scrip.settings" -}}
{{- $root := .root -}}
{{- mergeOverwrite (deepCopy $root.Values.defaults) (deepCopy (index $root.Values .name)) | toYaml -}}
{{- end -}}

{{- define "scrip.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels that identify the pods of a process. Takes the root and `name`. */}}
{{- define "scrip.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "scrip.labels" -}}
{{ include "scrip.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: scrip
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The database of a process: its own, or that of all. Takes the root and `settings`. */}}
{{- define "scrip.databaseSecret" -}}
{{- $database := .settings.database -}}
{{- if not $database.existingSecret -}}
{{- $database = .root.Values.database -}}
{{- end -}}
{{- dict "secret" $database.existingSecret "key" $database.key | toYaml -}}
{{- end -}}

{{/*
The replica of the database of a process: its own, or that of the database of all. A process with a database of its
own never reads from the replica of another one. Takes the root and `settings`.
*/}}
{{- define "scrip.replicaSecret" -}}
{{- if or .settings.database.existingSecret .settings.database.replica.existingSecret -}}
{{- toYaml .settings.database.replica -}}
{{- else -}}
{{- toYaml .root.Values.database.replica -}}
{{- end -}}
{{- end -}}

{{/* What all pods have in common: the profile `restricted` of Kubernetes. */}}
{{- define "scrip.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "scrip.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Scheduling of a pod. Takes `settings`. */}}
{{- define "scrip.scheduling" -}}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
The pod of a job that runs a command of `scrip` on the databases. Takes the root, `name`, `command`, `env` and `resources`.
*/}}
{{- define "scrip.commandPod" -}}
{{- $authority := .root.Values.certificateAuthority -}}
{{ include "scrip.podSecurity" .root }}
{{- include "scrip.scheduling" (dict "settings" .root.Values.defaults) | nindent 0 }}
restartPolicy: Never
containers:
  - name: {{ .name }}
    image: {{ include "scrip.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: [cli/bin/scrip.mjs, {{ .command }}]
    {{- include "scrip.containerSecurity" .root | nindent 4 }}
    env:
      {{- include "scrip.databasesEnv" .root | nindent 6 }}
      {{- if $authority.existingConfigMap }}
      - name: NODE_EXTRA_CA_CERTS
        value: /run/config/certificate-authority/{{ $authority.key }}
      {{- end }}
      {{- with .env }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    resources: {{ toYaml .resources | nindent 6 }}
    {{- if $authority.existingConfigMap }}
    volumeMounts:
      - name: certificate-authority
        mountPath: /run/config/certificate-authority
        readOnly: true
    {{- end }}
{{- if $authority.existingConfigMap }}
volumes:
  - name: certificate-authority
    configMap:
      name: {{ $authority.existingConfigMap }}
{{- end }}
{{- end -}}

{{/* The databases of all schemas, for commands: the shared one, that of the event log, and those of processes with one of their own. */}}
{{- define "scrip.databasesEnv" -}}
{{- $shared := include "scrip.databaseSecret" (dict "root" . "settings" .Values.defaults) | fromYaml -}}
{{ include "scrip.fromSecret" (dict "variable" "DATABASE_URL" "secret" $shared.secret "key" $shared.key) }}
{{- with .Values.database }}
{{- if .events.existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_EVENTS_DATABASE_URL" "secret" .events.existingSecret "key" .events.key) }}
{{- end }}
{{- end }}
{{- if eq .Values.mode "distributed" }}
{{- $root := . }}
{{- range $name, $callees := include "scrip.graph" . | fromYaml }}
{{- with (include "scrip.settings" (dict "root" $root "name" $name) | fromYaml).database }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" (printf "SCRIP_%s_DATABASE_URL" (upper $name)) "secret" .existingSecret "key" .key) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Replicas that a process may reach. Takes `settings`. */}}
{{- define "scrip.maxReplicas" -}}
{{- if .settings.autoscaling.enabled -}}
{{- .settings.autoscaling.maxReplicas -}}
{{- else -}}
{{- .settings.replicas -}}
{{- end -}}
{{- end -}}

{{/*
Metrics of a process whose own Service may be open to others. Takes the root, the `name` of the process
and of its `service`.
*/}}
{{- define "scrip.metricsService" }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .service }}-metrics
  labels: {{ include "scrip.labels" . | nindent 4 }}
spec:
  type: ClusterIP
  selector: {{ include "scrip.selector" . | nindent 4 }}
  ports:
    - name: metrics
      port: 9464
      targetPort: metrics
{{- end -}}

{{/*
A checksum of the secrets whose values are variables of a pod, so that their change restarts it; files are
read again. Secrets are unknown to `helm template`; GitOps tools restart by other means. Takes the root,
`settings` and `secrets`, those beside the ones that every process has.
*/}}
{{- define "scrip.checksum" -}}
{{- $values := .root.Values -}}
{{- $database := include "scrip.databaseSecret" . | fromYaml -}}
{{- $replica := include "scrip.replicaSecret" . | fromYaml -}}
{{- $common := list $database.secret $values.database.pooler.existingSecret $replica.existingSecret $values.redis.existingSecret -}}
{{- if $values.kafka.brokers -}}
{{- $common = append $common $values.kafka.sasl.existingSecret -}}
{{- end -}}
{{- $all := dict -}}
{{- range concat $common .secrets | compact | uniq -}}
{{- $_ := set $all . (lookup "v1" "Secret" $.root.Release.Namespace .).data -}}
{{- end -}}
{{- toJson $all | sha256sum -}}
{{- end -}}

{{/* A quantity of memory, such as 1.5Gi, in MiB. */}}
{{- define "scrip.mebibytes" -}}
{{- $units := dict "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- divf (mulf (regexFind "^[0-9.]+" .) (index $units (regexFind "[A-Za-z]+$" .))) 1048576 | int -}}
{{- end -}}

{{/* The port of a URL, by default that of its scheme. */}}
{{- define "scrip.portOf" -}}
{{- $url := urlParse . -}}
{{- regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https")) -}}
{{- end -}}

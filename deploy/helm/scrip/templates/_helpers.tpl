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

{{/* One key of an existing secret as a variable. Takes `variable`, `secret`, `key` and `optional`. */}}
{{- define "scrip.fromSecret" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ default .variable .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}

{{/* The database of a process: its own, or that of all. Takes the root and `settings`. */}}
{{- define "scrip.databaseSecret" -}}
{{- $own := .settings.database -}}
{{- $shared := .root.Values.database -}}
{{- if $own.existingSecret -}}
{{- dict "secret" $own.existingSecret "key" $own.key | toYaml -}}
{{- else -}}
{{- dict "secret" (required "database.existingSecret must name the secret with the URL of PostgreSQL" $shared.existingSecret) "key" $shared.key | toYaml -}}
{{- end -}}
{{- end -}}

{{/* Variables that every process has, standalone too. Takes the root and `settings`. */}}
{{- define "scrip.commonEnv" -}}
{{- $values := .root.Values -}}
{{- $database := include "scrip.databaseSecret" . | fromYaml -}}
{{ include "scrip.fromSecret" (dict "variable" "DATABASE_URL" "secret" $database.secret "key" $database.key) }}
{{- $ownDatabase := .settings.database.existingSecret -}}
{{- range $variable, $secret := dict "SCRIP_POOLER_URL" $values.database.pooler "SCRIP_REPLICA_URL" $values.database.replica }}
{{- /* The replica is that of the shared database. */}}
{{- if and $secret.existingSecret (not (and (eq $variable "SCRIP_REPLICA_URL") $ownDatabase)) }}
{{ include "scrip.fromSecret" (dict "variable" $variable "secret" $secret.existingSecret "key" $secret.key) }}
{{- end }}
{{- end }}
{{- with $values.redis }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_REDIS_URL" "secret" .existingSecret "key" .key) }}
{{- end }}
{{- end }}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ .settings.heapPercentage }}
- name: SCRIP_HOST
  value: 0.0.0.0
- name: SCRIP_METRICS_HOST
  value: 0.0.0.0
- name: SCRIP_METRICS_PORT
  value: "9464"
- name: SCRIP_LOG_LEVEL
  value: {{ $values.logLevel }}
- name: SCRIP_DRAIN_SECONDS
  value: {{ $values.drainSeconds | quote }}
{{- with $values.kafka.brokers }}
- name: SCRIP_KAFKA_BROKERS
  value: {{ join "," . | quote }}
- name: SCRIP_KAFKA_TLS
  value: {{ $values.kafka.tls | quote }}
{{- with $values.kafka.epoch }}
- name: SCRIP_KAFKA_EPOCH
  value: {{ . | quote }}
{{- end }}
{{- with $values.kafka.sasl }}
{{- if .existingSecret }}
- name: SCRIP_KAFKA_SASL_MECHANISM
  value: {{ .mechanism }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_KAFKA_USERNAME" "secret" .existingSecret "key" .usernameKey) }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_KAFKA_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- if $values.certificateAuthority.existingConfigMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /run/config/certificate-authority/{{ $values.certificateAuthority.key }}
{{- end }}
{{- end -}}

{{- define "scrip.edgeEnv" -}}
- name: SCRIP_PORT
  value: "8080"
- name: SCRIP_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
{{- with .Values.baseUrl }}
- name: SCRIP_BASE_URL
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "scrip.filesEnv" -}}
{{- with .Values.files }}
{{- if .bucket }}
- name: SCRIP_EXPORT_BUCKET
  value: {{ .bucket | quote }}
- name: SCRIP_EXPORT_S3_REGION
  value: {{ .region | quote }}
{{- with .s3Url }}
- name: SCRIP_EXPORT_S3_URL
  value: {{ . | quote }}
{{- end }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "AWS_ACCESS_KEY_ID" "secret" .existingSecret) }}
{{ include "scrip.fromSecret" (dict "variable" "AWS_SECRET_ACCESS_KEY" "secret" .existingSecret) }}
{{- end }}
{{- end }}
{{- end }}
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

{{/* Scheduling of a process. Takes the root, `name` and `settings`. */}}
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
{{- $common := list $database.secret $values.database.pooler.existingSecret $values.database.replica.existingSecret $values.redis.existingSecret -}}
{{- if $values.kafka.brokers -}}
{{- $common = append $common $values.kafka.sasl.existingSecret -}}
{{- end -}}
{{- $all := dict -}}
{{- range concat $common .secrets | compact | uniq -}}
{{- $_ := set $all . (lookup "v1" "Secret" $.root.Release.Namespace .).data -}}
{{- end -}}
{{- toJson $all | sha256sum -}}
{{- end -}}

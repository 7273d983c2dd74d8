-- Health of all kinds of Nexus Operator, from the conditions that kstatus defines. Argo CD and Flux agree:
-- Current is Healthy, InProgress and Terminating are Progressing, Failed is Degraded. A paused object, and one whose plan waits for an approval, are
-- Suspended.
local status = obj.status or {}
local conditions = status.conditions or {}

local function find(name)
  for _, c in ipairs(conditions) do
    if c.type == name then
      return c
    end
  end
  return {}
end

local function health(name, c, default)
  local message = c.message
  if message == nil or message == "" then
    message = default
  end
  return {status = name, message = message}
end

local ready = find("Ready")
if ready.reason == "PlanPending" and ready.observedGeneration == obj.metadata.generation then
  return health("Suspended", ready, "A plan waits for an approval")
end
if obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", find("Reconciling"), "The object is being deleted")
end

local paused = find("Paused")
if paused.status == "True" then
  return health("Suspended", paused, "The object is paused")
end
if status.phase == "Suspended" and obj.spec.suspend == true then
  return health("Suspended", ready, "The capability is suspended")
end

if status.observedGeneration ~= obj.metadata.generation then
  return health("Progressing", {}, "The operator has not processed this generation yet")
end

-- kstatus decides by the first of these two that is True.
for _, c in ipairs(conditions) do
  if c.type == "Reconciling" and c.status == "True" then
    return health("Progressing", c, "The operator is reconciling the object")
  end
  if c.type == "Stalled" and c.status == "True" then
    return health("Degraded", c, "The object needs a change by a person")
  end
end

if ready.status == "True" then
  return health("Healthy", ready, "The object is ready")
end
return health("Progressing", ready, "The object is not ready yet")

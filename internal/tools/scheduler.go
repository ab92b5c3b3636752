package tools

import (
	"encoding/json"

	"coachline/models"
	"coachline/models/wire"
)

// schedulerTool creates, lists and deletes daily prompts. Only the form of the
// arguments is checked here; zones, ids and limits are the rules' business.
func schedulerTool() Tool {
	return Tool{
		Name: "scheduler",
		Description: "The person's daily prompts, sent some minutes early. create after a yes to a clear time: type fixed with fixed_time, " +
			"or random with both ends of a window. delete takes schedule_id. To change a time, create the new one, then delete the old one.",
		Schema: schedulerSchema(),
		Modes:  bothModes(),
		Core:   bothModes(),
		Keywords: "schedule schedules remind reminder reminders alarm text texts texting message messages send every daily weekday clock hour earlier later reschedule cancel stop " +
			"5am 6am 7am 8am 9am 10am 11am 12pm 1pm 2pm 3pm 4pm 5pm 6pm 7pm 8pm 9pm 10pm " +
			"recordatorio recuérdame recuerdame recordar horario hora cada diario diaria mensaje mensajes temprano cambiar " +
			"rappel rappels rappelle rappeler horaire heure heures chaque jour quotidien tôt tard changer " +
			"erinnere erinner erinnerung erinnern uhr uhrzeit zeit täglich taeglich jeden tag zeitplan nachricht früher später spaeter ändern aendern " +
			"lembrete lembretes lembre horário cedo diário mensagem mensagens mudar",
		Tidy: dropEmpty,
		Event: func(args Arguments, newID string) (wire.Event, error) {
			ask, err := scheduleAsk(args)
			if err != nil {
				return wire.Event{}, err
			}
			if ask.Action == wire.ScheduleCreate {
				ask.NewID = newID
			}
			return wire.Event{Kind: wire.EventScheduleTool, Schedule: &ask}, nil
		},
	}
}

func schedulerSchema() json.RawMessage {
	return json.RawMessage(`{
  "type": "object",
  "properties": {
    "action": {
      "type": "string",
      "enum": ["create", "list", "delete"]
    },
    "type": {
      "type": "string",
      "enum": ["fixed", "random"],
      "description": "fixed: one time a day; random: some time in a window."
    },
    "fixed_time": {
      "type": "string",
      "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
      "description": "HH:MM, 24-hour"
    },
    "random_start_time": {
      "type": "string",
      "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
      "description": "HH:MM"
    },
    "random_end_time": {
      "type": "string",
      "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$",
      "description": "HH:MM; before the start: over midnight."
    },
    "timezone": {
      "type": "string",
      "maxLength": 64,
      "description": "IANA; left out: the person's own."
    },
    "schedule_id": {
      "type": "string",
      "maxLength": 64,
      "description": "For delete, as list shows it."
    }
  },
  "required": ["action"],
  "additionalProperties": false
}`)
}

func scheduleAsk(args Arguments) (wire.ScheduleAsk, error) {
	ask := wire.ScheduleAsk{Action: wire.ScheduleAction(args.Text("action"))}
	switch ask.Action {
	case wire.ScheduleList:
		return ask, nil
	case wire.ScheduleDelete:
		ask.ID = args.Text("schedule_id")
		if ask.ID == "" {
			return ask, models.BadField("schedule_id", "is required for delete; call list to see the ids")
		}
		return ask, nil
	case wire.ScheduleCreate:
		return createAsk(ask, args)
	case wire.ScheduleReplace, wire.ScheduleMove: // operators only
	}
	return ask, models.BadField("action", "must be one of create, list, delete")
}

func createAsk(ask wire.ScheduleAsk, args Arguments) (wire.ScheduleAsk, error) {
	if args.Text("schedule_id") != "" {
		return ask, models.BadField("schedule_id", "is only for delete; to change a schedule, create the new one and delete the old one")
	}
	ask.Zone = args.Text("timezone")
	ask.Type = wire.ScheduleType(args.Text("type"))
	fixed, from, to := args.Text("fixed_time"), args.Text("random_start_time"), args.Text("random_end_time")
	switch ask.Type {
	case wire.ScheduleFixed:
		if fixed == "" {
			return ask, models.BadField("fixed_time", "is required for type fixed, as HH:MM on the 24-hour clock")
		}
		if from != "" || to != "" {
			return ask, models.BadField("type", "fixed takes fixed_time only; use random for a window")
		}
		ask.At = fixed
		return ask, nil
	case wire.ScheduleRandom:
		if from == "" || to == "" {
			return ask, models.BadField("random_start_time", "and random_end_time are both required for type random, as HH:MM on the 24-hour clock")
		}
		if fixed != "" {
			return ask, models.BadField("type", "random takes random_start_time and random_end_time only; use fixed for one time")
		}
		if from == to {
			return ask, models.BadField("random_end_time", "must differ from random_start_time; use type fixed for one time")
		}
		ask.From, ask.To = from, to
		return ask, nil
	}
	return ask, models.BadField("type", "is required for create; use one of fixed, random")
}
